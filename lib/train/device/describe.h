// What the worker knows about its LibTorch and its devices: the answer to a describe job.
#pragma once

#include "common/json_fields.h"
#include "train/device/device_module.h"

namespace precbench::train {

// {libtorch {version, cuda_built}, cpu {capability, mkl, onednn, threads}, devices [...], unknown
// {}}.
json describe(const DeviceModule& device);

// The CUDA that the LibTorch was built with ("13.0"); nothing for a CPU-only one. No ATen call
// either.
std::optional<std::string> libtorch_cuda_version();

// The version of the LibTorch that is loaded, which need not be the one whose headers were
// compiled. Makes no ATen call that would look for CUDA.
std::string libtorch_version();

}  // namespace precbench::train
