#include "train/data/augmentation.h"

namespace precbench::train {

torch::Tensor random_crop_and_flip(const torch::Tensor& images, DeviceModule& device) {
  const int64_t count = images.size(0), channels = images.size(1);
  const int64_t height = images.size(2), width = images.size(3);
  const torch::Tensor top = torch::randint(2 * kCropPadding + 1, {count, 1}, torch::kLong);
  const torch::Tensor left = torch::randint(2 * kCropPadding + 1, {count, 1}, torch::kLong);
  const torch::Tensor mirrored = torch::rand({count, 1}) < 0.5;

  const torch::Tensor columns = torch::arange(width);
  const torch::Tensor rows = top + torch::arange(height);  // [n, height], in the padded image
  const torch::Tensor columns_of_each =
      left + torch::where(mirrored, columns.flip(0), columns);  // [n, width]
  const int64_t padded_width = width + 2 * kCropPadding;
  // By pinned memory: a copy from any other would wait for all that the device has still to do.
  torch::Tensor drawn = device.host_buffer({count, height, width}, torch::kLong);
  drawn.copy_(rows.unsqueeze(2) * padded_width + columns_of_each.unsqueeze(1));
  const torch::Tensor places =
      drawn.view({count, 1, height * width}).to(images.device(), /*non_blocking=*/true);
  const torch::Tensor padded =
      torch::constant_pad_nd(images, {kCropPadding, kCropPadding, kCropPadding, kCropPadding});
  return padded.flatten(2)
      .gather(2, places.expand({count, channels, height * width}))
      .view_as(images);
}

}  // namespace precbench::train
