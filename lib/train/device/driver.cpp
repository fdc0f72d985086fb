#include "train/device/driver.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/errors.h"

namespace precbench::train {
namespace {

// CUresult values of cuda.h that have their own explanation.
constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE

struct InitError {
  int result;
  const char* why;
};
constexpr InitError kInitErrors[] = {
    {34,  // CUDA_ERROR_STUB_LIBRARY
     "libcuda.so.1 is the CUDA toolkit's stub for linking, not a driver; take its folder out of "
     "LD_LIBRARY_PATH"},
    {46,  // CUDA_ERROR_DEVICE_UNAVAILABLE
     "another process has the NVIDIA device to itself (nvidia-smi --query-gpu=compute_mode)"},
    {802,  // CUDA_ERROR_SYSTEM_NOT_READY
     "the NVIDIA driver is not ready: on machines with NVSwitch (HGX, DGX) it waits for the fabric "
     "manager (systemctl status nvidia-fabricmanager)"},
    {803,  // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
     "the NVIDIA kernel module and libcuda.so.1 are of different versions; reboot after a driver "
     "update"},
    {804,  // CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
     "libcuda.so.1 is a forward compatibility package (cuda-compat), which this card does not "
     "support, as it is no data center card; take its folder out of LD_LIBRARY_PATH, and update "
     "the "
     "driver where it is too old"},
};

// The first Linux driver of each CUDA major version, from the compatibility table of the CUDA
// release notes. A driver runs every minor version of its own major.
struct FirstDriver {
  int cuda_major;
  const char* driver;
};
constexpr FirstDriver kFirstDrivers[] = {{11, "450"}, {12, "525"}, {13, "580"}};

template <typename Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int major_of(const std::string& version) { return std::atoi(version.c_str()); }

// CUdevice_attribute values of cuda.h.
constexpr int kSmClock = 13, kMultiprocessors = 16, kEcc = 32, kPciBus = 33, kPciDevice = 34,
              kMemoryClock = 36, kPciDomain = 50, kMajor = 75, kMinor = 76;

struct CardUuid {
  std::array<unsigned char, 16> bytes;
};

std::string uuid_text(const CardUuid& uuid) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "GPU-";
  for (size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid.bytes[i] >> 4];
    text += kDigits[uuid.bytes[i] & 15];
  }
  return text;
}

// One card of the driver, by the functions of libcuda.so.1.
class Card {
 public:
  explicit Card(int index) : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    call<int(int*, int)>("cuDeviceGet", &device_, index);
  }

  template <typename Function, typename... Arguments>
  void call(const char* name, Arguments... arguments) const {
    auto* function = library_ == nullptr ? nullptr : symbol<Function>(library_, name);
    const int result = function == nullptr ? kNotFound : function(arguments...);
    if (result == 0) return;
    throw DeviceError("the NVIDIA driver does not tell what the card is: " + std::string(name) +
                      " returned CUresult " + std::to_string(result));
  }

  int attribute(int which) const {
    int value = 0;
    call<int(int*, int, int)>("cuDeviceGetAttribute", &value, which, device_);
    return value;
  }
  int device() const { return device_; }

 private:
  static constexpr int kNotFound = 500;  // CUDA_ERROR_NOT_FOUND
  void* library_;                        // stays open: LibTorch uses it
  int device_ = 0;
};

std::string driver_for(int cuda_major) {
  for (const FirstDriver& row : kFirstDrivers) {
    if (row.cuda_major == cuda_major) return " (driver " + std::string(row.driver) + " or newer)";
  }
  return "";
}

}  // namespace

DriverFacts read_driver_facts() {
  DriverFacts facts;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) facts.visible_devices = visible;
  void* library =
      dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // stays: the CUDA runtime uses it next
  if (library == nullptr) return facts;
  facts.library_found = true;
  auto* driver_version = symbol<int(int*)>(library, "cuDriverGetVersion");
  auto* init = symbol<int(unsigned)>(library, "cuInit");
  auto* device_count = symbol<int(int*)>(library, "cuDeviceGetCount");
  int version = 0;
  if (driver_version != nullptr && driver_version(&version) == 0) facts.cuda_version = version;
  if (init == nullptr || device_count == nullptr) return facts;
  facts.init_error = init(0);
  if (facts.init_error == 0) device_count(&facts.device_count);
  return facts;
}

CardFacts read_card_facts(int index) {
  const Card card(index);
  std::array<char, 256> name{};
  CardUuid uuid{};
  size_t memory = 0;
  card.call<int(char*, int, int)>("cuDeviceGetName", name.data(), static_cast<int>(name.size()),
                                  card.device());
  card.call<int(CardUuid*, int)>("cuDeviceGetUuid", &uuid, card.device());
  card.call<int(size_t*, int)>("cuDeviceTotalMem_v2", &memory, card.device());
  std::array<char, 32> pci{};
  std::snprintf(pci.data(), pci.size(), "%08x:%02x:%02x.0",
                static_cast<unsigned>(card.attribute(kPciDomain)),
                static_cast<unsigned>(card.attribute(kPciBus)),
                static_cast<unsigned>(card.attribute(kPciDevice)));
  CardFacts facts;
  facts.name = name.data();
  facts.uuid = uuid_text(uuid);
  facts.pci_bus_id = pci.data();
  facts.memory_bytes = static_cast<int64_t>(memory);
  facts.major = card.attribute(kMajor);
  facts.minor = card.attribute(kMinor);
  facts.multiprocessors = card.attribute(kMultiprocessors);
  facts.sm_clock_khz = card.attribute(kSmClock);
  facts.memory_clock_khz = card.attribute(kMemoryClock);
  facts.has_ecc = card.attribute(kEcc) != 0;
  return facts;
}

std::string missing_for_cuda(const DriverFacts& driver,
                             const std::optional<std::string>& cuda_built, int index) {
  if (!cuda_built)
    return "this LibTorch is built for CPUs only; name one with CUDA in PRECBENCH_LIBTORCH";
  if (!driver.library_found) return "no NVIDIA driver: libcuda.so.1 is not on this machine";
  const int needed = major_of(*cuda_built);
  if (driver.cuda_version && *driver.cuda_version / 1000 < needed) {
    return "the NVIDIA driver is too old: it supports CUDA up to " +
           version_text(*driver.cuda_version) + ", this LibTorch needs CUDA " + *cuda_built +
           driver_for(needed) + "; update the driver, or name a LibTorch built for CUDA " +
           std::to_string(*driver.cuda_version / 1000) + " in PRECBENCH_LIBTORCH";
  }
  const bool hides_all = driver.visible_devices &&
                         (driver.visible_devices->empty() || *driver.visible_devices == "-1");
  if (hides_all)
    return "CUDA_VISIBLE_DEVICES=\"" + *driver.visible_devices + "\" hides every CUDA device";
  for (const InitError& error : kInitErrors) {
    if (driver.init_error == error.result) return error.why;
  }
  if (driver.init_error != 0 && driver.init_error != kNoDevice) {
    return "the NVIDIA driver does not start: cuInit returned CUresult " +
           std::to_string(driver.init_error);
  }
  const std::string hidden = driver.visible_devices
                                 ? " under CUDA_VISIBLE_DEVICES=\"" + *driver.visible_devices + "\""
                                 : "";
  if (driver.device_count == 0) {
    return "the NVIDIA driver lists no CUDA device" + hidden +
           (driver.visible_devices ? "; nvidia-smi -L lists the devices there are" : "");
  }
  if (index >= driver.device_count) {
    return "there is no CUDA device " + std::to_string(index) + ": the driver lists " +
           std::to_string(driver.device_count) + hidden;
  }
  return "";
}

std::string preflight_failure(const std::string& message, const std::string& device_name,
                              const std::string& compute_capability,
                              const std::string& architectures) {
  const bool has_no_image = message.find("no kernel image") != std::string::npos ||
                            message.find("cudaErrorNoKernelImageForDevice") != std::string::npos;
  if (!has_no_image)
    return "a first kernel on " + device_name + " failed: " + message.substr(0, message.find('\n'));
  return "this LibTorch has no kernel image for " + device_name + " (compute capability " +
         compute_capability + "); it holds " +
         (architectures.empty() ? "an unknown list" : architectures) +
         ". Cards under 7.5 need LibTorch 2.14 or older built for CUDA 12.6; name one in "
         "PRECBENCH_LIBTORCH";
}

}  // namespace precbench::train
