#include "train/loop/loader.h"

#include <algorithm>

#include "train/loop/augmentation.h"

namespace precbench::train {
namespace {

// torch.empty((), dtype=torch.int64).random_().item()
uint64_t draw_seed() {
  return static_cast<uint64_t>(torch::empty({}, torch::kLong).random_().item<int64_t>());
}

}  // namespace

Loader::Loader(DeviceModule& device, const DataSet& data, const Split& split, SampleOrder order,
               int64_t batch_size, at::MemoryFormat format)
    : device_(device),
      data_(data),
      split_(split),
      batch_size_(batch_size),
      format_(format),
      next_(split.size()) {
  const auto scalar = [&](double value) {
    return torch::full({}, value, torch::TensorOptions(torch::kFloat).device(device.device()));
  };
  largest_ = scalar(255);
  mean_ = scalar(data.mean);
  std_ = scalar(data.std);
  if (order == SampleOrder::shuffled) {
    order_ = torch::empty({samples()}, split.labels.options());
  }
}

void Loader::start_pass() {
  draw_seed();  // the base seed that Python's worker processes would get
  if (order_.defined()) {
    at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(draw_seed());
    order_.copy_(torch::randperm(samples(), generator, torch::kLong));
  }
  next_ = 0;
}

torch::Tensor Loader::gather(const torch::Tensor& all, int64_t count) const {
  if (data_.resident) {
    return order_.defined() ? all.index_select(0, order_.narrow(0, next_, count))
                            : all.narrow(0, next_, count);
  }
  std::vector<int64_t> shape = all.sizes().vec();
  shape[0] = count;
  torch::Tensor staged = device_.host_buffer(shape, all.scalar_type());
  if (order_.defined()) {
    at::index_select_out(staged, all, 0, order_.narrow(0, next_, count));
  } else {
    staged.copy_(all.narrow(0, next_, count));
  }
  return staged.to(device_.device(), /*non_blocking=*/true);
}

Batch Loader::next() {
  const int64_t count = std::min(batch_size_, samples() - next_);
  Batch batch;
  const torch::Tensor pixels = gather(split_.images, count);
  batch.target = gather(split_.labels, count);
  next_ += count;
  const bool augment = order_.defined() && data_.augment;
  batch.input = (augment ? random_crop_and_flip(pixels) : pixels)
                    .to(torch::kFloat)
                    .div_(largest_)
                    .sub_(mean_)
                    .div_(std_);
  const int64_t size = data_.image_size;
  if (size > 0 && (batch.input.size(2) != size || batch.input.size(3) != size)) {
    // Antialiased, as torchvision's Resize.
    batch.input = at::_upsample_bilinear2d_aa(batch.input, {size, size}, /*align_corners=*/false);
  }
  batch.input = batch.input.contiguous(format_);
  return batch;
}

}  // namespace precbench::train
