// The device that a job names.
#pragma once

#include <memory>
#include <string>

#include "train/device/device_module.h"

namespace precbench::train {

// "cpu", or a device of a module: "cuda:0" (libprecbench_cuda.so), "simulated:t4"
// (libprecbench_simulated_gpu.so), looked for in ../lib beside the program. A module must be opened
// before the first ATen call: ATen asks for CUDA once and remembers "no". Throws DeviceError naming
// what is missing.
std::unique_ptr<DeviceModule> open_device(const std::string& name);

}  // namespace precbench::train
