// A driver that says what FAKE_CUDA_DRIVER tells it to: "<CUDA version> <cuInit's result>
// <devices>", as "13000 0 1".
#include <cstdio>
#include <cstdlib>

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

}  // namespace

extern "C" {
int cuDriverGetVersion(int* version) {
  *version = script().version;
  return 0;
}
int cuInit(unsigned) { return script().init; }
int cuDeviceGetCount(int* count) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  *count = visible != nullptr && *visible == '\0' ? 0 : script().devices;
  return 0;
}
}
