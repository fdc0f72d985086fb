#include "train/device/open_device.h"

#include <dlfcn.h>

#include <cstdlib>

#include "common/errors.h"
#include "train/base/errors.h"
#include "train/device/cpu_device.h"
#include "train/device/describe.h"
#include "train/device/driver.h"
#include "train/device/module_folder.h"

namespace precbench::train {
namespace {

// 1 of "cuda:1", 0 of "cuda".
int index_of(const std::string& device) {
  const size_t colon = device.find(':');
  return colon == std::string::npos ? 0 : std::atoi(device.c_str() + colon + 1);
}

// Without a driver that can run it, LibTorch's CUDA side would only say that there is no device.
void check_driver(const std::string& device) {
  const std::string missing =
      missing_for_cuda(read_driver_facts(), libtorch_cuda_version(), index_of(device));
  if (!missing.empty()) throw DeviceError(missing);
}

std::unique_ptr<DeviceModule> open_module(const std::string& library, const std::string& device) {
  const auto path = module_folder() / library;
  // Global, so that LibTorch's registries of the module's own libraries are found; never closed.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    throw DeviceError("device " + device + " needs " + library +
                      ", which does not load: " + dlerror());
  }
  auto* open = reinterpret_cast<OpenDevice*>(dlsym(module, kOpenDeviceSymbol));
  if (open == nullptr) throw DeviceError(library + " does not export " + kOpenDeviceSymbol);
  try {
    return std::unique_ptr<DeviceModule>(open(device));
  } catch (const c10::Error& error) {  // of the first use: a card in exclusive mode, a sick one
    throw DeviceError("device " + device + " is there but cannot be used: " + first_line_of(error));
  }
}

}  // namespace

std::unique_ptr<DeviceModule> open_device(const std::string& name) {
  if (name == "cpu") return std::make_unique<CpuDevice>();
  if (name.starts_with("cuda")) {
    check_driver(name);
    return open_module("libprecbench_cuda.so", name);
  }
  if (name.starts_with("simulated:")) return open_module("libprecbench_simulated_gpu.so", name);
  throw DeviceError("unknown device '" + name + "'; devices: cpu cuda:N simulated:NAME");
}

}  // namespace precbench::train
