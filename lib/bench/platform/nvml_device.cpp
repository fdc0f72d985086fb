#include "bench/platform/nvml_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

namespace precbench {
namespace {

// Types and numbers of NVIDIA's NVML API reference. Enumerations are ints there.
using Result = int;
using Device = void*;
constexpr Result kSuccess = 0;
constexpr Result kInsufficientSize = 7;
constexpr int kTemperatureOfGpu = 0, kClockOfSm = 1, kClockOfMemory = 2;
constexpr int kUncorrectedErrors = 1, kSinceDriverLoad = 0;
constexpr int kVirtualGpu = 2;           // NVML_GPU_VIRTUALIZATION_MODE_VGPU
constexpr unsigned kVersionBuffer = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE

constexpr const char* kNotOffered = "this driver's NVML does not offer it";

struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {  // nvmlMemory_v2_t, from driver 510 on: `used` without what the driver reserves
  unsigned version = sizeof(MemoryV2) | (2U << 24U);
  unsigned long long total = 0, reserved = 0, free = 0, used = 0;
};
struct ProcessInfo {  // nvmlProcessInfo_v2_t, which the calls _v2 and _v3 fill
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

// The symbols that are there; null for the others.
struct NvmlDevice::Library {
  explicit Library(const std::string& name) : handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) {
      const char* message = dlerror();
      throw NvmlError("NVML cannot be loaded: " +
                      std::string(message != nullptr ? message : name.c_str()));
    }
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(error_string, "nvmlErrorString");
    find(driver_version, "nvmlSystemGetDriverVersion");
    find(device_count, "nvmlDeviceGetCount_v2");
    find(by_index, "nvmlDeviceGetHandleByIndex_v2");
    find(by_uuid, "nvmlDeviceGetHandleByUUID");
    find(by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
    find(power, "nvmlDeviceGetPowerUsage");
    find(energy, "nvmlDeviceGetTotalEnergyConsumption");
    find(temperature, "nvmlDeviceGetTemperature");
    find(clock, "nvmlDeviceGetClockInfo");
    find(max_clock, "nvmlDeviceGetMaxClockInfo");
    find(clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    if (clock_reasons == nullptr)  // its name before driver 535
      find(clock_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(memory_v2, "nvmlDeviceGetMemoryInfo_v2");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(ecc_mode, "nvmlDeviceGetEccMode");
    find(virtualization, "nvmlDeviceGetVirtualizationMode");
    find(mig_mode, "nvmlDeviceGetMigMode");
    find(ecc_errors, "nvmlDeviceGetTotalEccErrors");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (processes == nullptr) find(processes, "nvmlDeviceGetComputeRunningProcesses_v2");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (is_initialised && shutdown != nullptr) shutdown();
    // Not unloaded: the driver's threads and exit handlers may still point into it.
  }

  template <typename Function>
  void find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(dlsym(handle, name));
  }

  std::string reason(Result result) const {
    const char* text = error_string != nullptr ? error_string(result) : nullptr;
    return "NVML: " + (text != nullptr ? std::string(text) : "error " + std::to_string(result));
  }

  // Calls a function that fills `value`. A failure is told in `unknown` under `key`.
  template <typename Value, typename Function, typename... Arguments>
  std::optional<Value> get(Unknowns& unknown, const char* key, Function* function,
                           Arguments... arguments) const {
    if (function == nullptr) {
      unknown[key] = kNotOffered;
      return std::nullopt;
    }
    Value value{};
    const Result result = function(arguments..., &value);
    if (result != kSuccess) {
      unknown[key] = reason(result);
      return std::nullopt;
    }
    unknown.erase(key);
    return value;
  }

  void* handle;
  bool is_initialised = false;
  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  const char* (*error_string)(Result) = nullptr;
  Result (*driver_version)(char*, unsigned) = nullptr;
  Result (*device_count)(unsigned*) = nullptr;
  Result (*by_index)(unsigned, Device*) = nullptr;
  Result (*by_uuid)(const char*, Device*) = nullptr;
  Result (*by_pci)(const char*, Device*) = nullptr;
  Result (*power)(Device, unsigned*) = nullptr;                    // mW
  Result (*energy)(Device, unsigned long long*) = nullptr;         // mJ
  Result (*temperature)(Device, int, unsigned*) = nullptr;         // degrees Celsius
  Result (*clock)(Device, int, unsigned*) = nullptr;               // MHz
  Result (*max_clock)(Device, int, unsigned*) = nullptr;           // MHz
  Result (*clock_reasons)(Device, unsigned long long*) = nullptr;  // bits
  Result (*memory_v2)(Device, MemoryV2*) = nullptr;
  Result (*memory)(Device, Memory*) = nullptr;
  Result (*ecc_mode)(Device, int*, int*) = nullptr;  // current, pending
  Result (*virtualization)(Device, int*) = nullptr;
  Result (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;  // current, pending
  Result (*ecc_errors)(Device, int, int, unsigned long long*) = nullptr;
  Result (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
};

namespace {

// A lookup by name that succeeds, or nothing with the reason kept.
template <typename Library>
Device device_named(const Library& library, Result (*lookup)(const char*, Device*),
                    const std::string& name, std::string& reason) {
  if (name.empty()) return nullptr;
  if (lookup == nullptr) {
    reason = "this driver's NVML cannot look cards up by name";
    return nullptr;
  }
  Device device = nullptr;
  const Result result = lookup(name.c_str(), &device);
  if (result == kSuccess) return device;
  reason = library.reason(result) + " (" + name + ")";
  return nullptr;
}

template <typename Library>
Device find_device(const Library& library, const NvmlTarget& target) {
  std::string reason;
  const bool has_prefix = target.uuid.starts_with("GPU-") || target.uuid.starts_with("MIG-");
  const std::string uuid = target.uuid.empty() || has_prefix ? target.uuid : "GPU-" + target.uuid;
  Device device = device_named(library, library.by_uuid, uuid, reason);
  if (device == nullptr) device = device_named(library, library.by_pci, target.pci_bus_id, reason);
  if (device != nullptr) return device;
  if (!target.uuid.empty() || !target.pci_bus_id.empty()) throw NvmlError(reason);
  unsigned count = 0;
  if (library.device_count == nullptr || library.by_index == nullptr ||
      library.device_count(&count) != kSuccess || count != 1) {
    throw NvmlError(
        "NVML: neither UUID nor PCI id of the card is known, and it is not the only one");
  }
  const Result result = library.by_index(0, &device);
  if (result != kSuccess) throw NvmlError(library.reason(result));
  return device;
}

// The list may grow between asking for its size and fetching it; this many more fit.
constexpr unsigned kSpareProcesses = 16;

std::optional<double> scaled(const std::optional<unsigned>& number, double factor) {
  if (!number) return std::nullopt;
  return static_cast<double>(*number) * factor;
}

}  // namespace

NvmlDevice::NvmlDevice(const std::string& library, const NvmlTarget& target)
    : library_(std::make_unique<Library>(library)) {
  if (library_->init == nullptr) throw NvmlError("NVML: this library has no nvmlInit_v2");
  const Result result = library_->init();
  if (result != kSuccess) throw NvmlError(library_->reason(result));
  library_->is_initialised = true;
  device_ = find_device(*library_, target);

  char version[kVersionBuffer + 1] = {};
  if (library_->driver_version == nullptr) {
    facts_.unknown["driver"] = kNotOffered;
  } else if (const Result failed = library_->driver_version(version, kVersionBuffer);
             failed != kSuccess) {
    facts_.unknown["driver"] = library_->reason(failed);
  } else {
    facts_.driver = version;
  }
  facts_.max_sm_clock_mhz =
      scaled(library_->get<unsigned>(facts_.unknown, "max_sm_clock_mhz", library_->max_clock,
                                     device_, kClockOfSm),
             1.0);
  const auto is_on = [&](const char* key, auto* function, auto unit) -> std::optional<bool> {
    decltype(unit) current{}, pending{};
    if (function == nullptr) {
      facts_.unknown[key] = kNotOffered;
      return std::nullopt;
    }
    if (const Result failed = function(device_, &current, &pending); failed != kSuccess) {
      facts_.unknown[key] = library_->reason(failed);
      return std::nullopt;
    }
    return current != 0;
  };
  facts_.ecc = is_on("ecc", library_->ecc_mode, int{});
  facts_.has_slices = is_on("has_slices", library_->mig_mode, unsigned{});
  const auto mode =
      library_->get<int>(facts_.unknown, "is_virtual", library_->virtualization, device_);
  if (mode) facts_.is_virtual = *mode == kVirtualGpu;
}

NvmlDevice::~NvmlDevice() = default;

NvmlSample NvmlDevice::sample() {
  const Library& nvml = *library_;
  NvmlSample sample;
  sample.power_w = scaled(nvml.get<unsigned>(unknown_, "power_w", nvml.power, device_), 1e-3);
  if (const auto mj = nvml.get<unsigned long long>(unknown_, "energy_j", nvml.energy, device_))
    sample.energy_j = static_cast<double>(*mj) * 1e-3;
  sample.temperature_c = scaled(
      nvml.get<unsigned>(unknown_, "temperature_c", nvml.temperature, device_, kTemperatureOfGpu),
      1.0);
  sample.sm_clock_mhz =
      scaled(nvml.get<unsigned>(unknown_, "sm_clock_mhz", nvml.clock, device_, kClockOfSm), 1.0);
  sample.memory_clock_mhz = scaled(
      nvml.get<unsigned>(unknown_, "memory_clock_mhz", nvml.clock, device_, kClockOfMemory), 1.0);
  if (const auto bits =
          nvml.get<unsigned long long>(unknown_, "clock_reasons", nvml.clock_reasons, device_))
    sample.clock_reasons = *bits;
  if (const auto memory = nvml.get<MemoryV2>(unknown_, "used_bytes", nvml.memory_v2, device_)) {
    sample.used_bytes = static_cast<int64_t>(memory->used);
  } else if (nvml.memory != nullptr) {
    if (const auto v1 = nvml.get<Memory>(unknown_, "used_bytes", nvml.memory, device_))
      sample.used_bytes = static_cast<int64_t>(v1->used);
  }
  if (const auto errors = nvml.get<unsigned long long>(
          unknown_, "ecc_errors", nvml.ecc_errors, device_, kUncorrectedErrors, kSinceDriverLoad))
    sample.ecc_errors = static_cast<int64_t>(*errors);

  if (nvml.processes == nullptr) {
    unknown_["processes"] = kNotOffered;
    return sample;
  }
  unsigned count = 0;
  Result result = nvml.processes(device_, &count, nullptr);
  std::vector<ProcessInfo> list;
  if (result == kInsufficientSize) {
    list.resize(count + kSpareProcesses);
    count = static_cast<unsigned>(list.size());
    result = nvml.processes(device_, &count, list.data());
  }
  if (result != kSuccess) {
    unknown_["processes"] = nvml.reason(result);
    return sample;
  }
  list.resize(std::min<size_t>(count, list.size()));
  unknown_.erase("processes");
  sample.processes.emplace();
  for (const ProcessInfo& process : list) sample.processes->push_back(process.pid);
  return sample;
}

}  // namespace precbench
