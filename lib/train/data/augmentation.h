// Random crop and horizontal flip, as commonly used on CIFAR (He et al. 2015, section 4.2).
#pragma once

#include "train/base/torch.h"
#include "train/device/device_module.h"

namespace precbench::train {

// Pixels of zero padding on each side, out of which the crop is taken.
inline constexpr int64_t kCropPadding = 4;

// images [n, channels, height, width] of any dtype, on the device -> the same shape. Every image
// gets its own crop and, with probability 1/2, is mirrored. Drawn from the global CPU generator, so
// that a seed means the same on every device and in every mode.
torch::Tensor random_crop_and_flip(const torch::Tensor& images, DeviceModule& device);

}  // namespace precbench::train
