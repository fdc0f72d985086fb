// How many floating-point operations a second a device does in one format.
#pragma once

#include "common/json_fields.h"
#include "train/base/torch.h"
#include "train/device/device_module.h"

namespace precbench::train {

// {forward, input_gradient, weight_gradient: TFLOP/s of the three matrix products of a linear
// layer; tflops: of all three together; shape [batch, in, out]; samples; low, high: of the fastest
// and slowest sample of the three together}. A multiplication and an addition are two operations.
json gemm_rate(DeviceModule& device, at::ScalarType type, double seconds);

// The same of an FP8 layer's products on at::_scaled_mm: e4m3 x e4m3 forward, e5m2 x e4m3 backward;
// what casts and transposed copies take is left out. Throws c10::Error where the device has no
// such kernel.
json float8_gemm_rate(DeviceModule& device, double seconds);

// {forward, backward, tflops, shape [batch, channels in, channels out, height, width, kernel],
// samples, low, high} of a 3x3 convolution; backward makes both gradients.
json convolution_rate(DeviceModule& device, at::ScalarType type, double seconds);

// {default, onednn: TFLOP/s of the three fp32 products of a linear layer by PyTorch's own choice
// and by oneDNN (null where this LibTorch has it not), in turn; shape [batch, in, out]; samples}.
// CPU.
json linear_rates(DeviceModule& device, double seconds);

}  // namespace precbench::train
