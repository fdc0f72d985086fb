#include "train/device/open_device.h"

#include <dlfcn.h>

#include <filesystem>

#include "common/errors.h"
#include "train/device/cpu_device.h"

namespace precbench::train {
namespace {

std::unique_ptr<DeviceModule> open_module(const std::string& library, const std::string& device) {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto path = program.parent_path().parent_path() / "lib" / library;
  // Global, so that LibTorch's registries of the module's own libraries are found; never closed.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    throw DeviceError("device " + device + " needs " + library +
                      ", which does not load: " + dlerror());
  }
  auto* open = reinterpret_cast<OpenDevice*>(dlsym(module, kOpenDeviceSymbol));
  if (open == nullptr) throw DeviceError(library + " does not export " + kOpenDeviceSymbol);
  return std::unique_ptr<DeviceModule>(open(device));
}

}  // namespace

std::unique_ptr<DeviceModule> open_device(const std::string& name) {
  if (name == "cpu") return std::make_unique<CpuDevice>();
  if (name.starts_with("cuda")) return open_module("libprecbench_cuda.so", name);
  if (name.starts_with("simulated:")) return open_module("libprecbench_simulated_gpu.so", name);
  throw DeviceError("unknown device '" + name + "'; devices: cpu cuda:N simulated:NAME");
}

}  // namespace precbench::train
