// What each number format really does on the device: rates and properties, measured.
#pragma once

#include "common/json_fields.h"
#include "train/device/device_module.h"

namespace precbench::train {

// {formats: {float32: {gemm, convolution: as probe/rates.h or null, numbers: as
// probe/number_format.h or null, unknown: {what: the error of LibTorch}}, ...}}. On CUDA float32 is
// measured with TF32 off, and tf32 (from Ampere on) with it on. Some seconds.
json probe(DeviceModule& device);

}  // namespace precbench::train
