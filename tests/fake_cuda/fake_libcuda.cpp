// A driver that says what FAKE_CUDA_DRIVER tells it to: "<CUDA version> <cuInit's result>
// <devices>", as "13000 0 1"; and what a T4 would say of itself. Its cards are GPU-aaaa, GPU-bbbb,
// ... and each has the MIG instance MIG-aaaa, MIG-bbbb, ...
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

struct Script {
  int version = 13000, init = 0, devices = 1;
};

Script script() {
  Script read;
  if (const char* text = std::getenv("FAKE_CUDA_DRIVER")) {
    std::sscanf(text, "%d %d %d", &read.version, &read.init, &read.devices);
  }
  return read;
}

// As a number, or as the beginning of a UUID.
bool names_a_card(const std::string& name, int devices) {
  for (int i = 0; i < devices; ++i) {
    const std::string letters(4, static_cast<char>('a' + i));
    const bool is_uuid = name.size() > 4 && (("GPU-" + letters).rfind(name, 0) == 0 ||
                                             ("MIG-" + letters).rfind(name, 0) == 0);
    if (name == std::to_string(i) || is_uuid) return true;
  }
  return false;
}

}  // namespace

extern "C" {
int cuDriverGetVersion(int* version) {
  *version = script().version;
  return 0;
}
int cuInit(unsigned) { return script().init; }
int cuDeviceGetCount(int* count) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  *count = 0;
  if (visible == nullptr) *count = script().devices;
  // The list ends before the first name that no card has.
  std::istringstream names(visible == nullptr ? "" : visible);
  for (std::string name; std::getline(names, name, ','); ++*count) {
    if (!names_a_card(name, script().devices)) break;
  }
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<size_t>(length), "Tesla T4");
  return 0;
}
int cuDeviceGetUuid(unsigned char* uuid, int) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(0x10 * i + 15 - i);
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{15655829504};
  return 0;
}
// The numbers are CUdevice_attribute's of cuda.h.
int cuDeviceGetAttribute(int* value, int which, int) {
  switch (which) {
    case 13:  // clock rate
      *value = 1590000;
      return 0;
    case 16:  // multiprocessors
      *value = 40;
      return 0;
    case 32:  // ECC
      *value = 1;
      return 0;
    case 33:  // PCI bus
      *value = 0x3b;
      return 0;
    case 34:  // PCI device
    case 50:  // PCI domain
      *value = 0;
      return 0;
    case 36:  // memory clock rate
      *value = 5001000;
      return 0;
    case 75:  // compute capability, major
      *value = 7;
      return 0;
    case 76:  // minor
      *value = 5;
      return 0;
    default:
      return 1;  // CUDA_ERROR_INVALID_VALUE
  }
}
}
