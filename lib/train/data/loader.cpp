#include "train/data/loader.h"

#include <algorithm>

#include "train/data/augmentation.h"

namespace precbench::train {
namespace {

// torch.empty((), dtype=torch.int64).random_().item()
uint64_t draw_seed() {
  return static_cast<uint64_t>(torch::empty({}, torch::kLong).random_().item<int64_t>());
}

}  // namespace

torch::Tensor in_layout(const torch::Tensor& tensor, at::MemoryFormat format) {
  constexpr int64_t kImageBatchRank = 4;  // others have one layout
  if (tensor.dim() != kImageBatchRank || format == at::MemoryFormat::Contiguous) {
    return tensor.contiguous();
  }
  return tensor.to(tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/false, format);
}

Loader::Loader(DeviceModule& device, const DataSet& data, const Split& split, SampleOrder order,
               int64_t batch_size, at::MemoryFormat format, Share share)
    : device_(device),
      data_(data),
      split_(split),
      batch_size_(batch_size),
      format_(format),
      share_(share),
      is_shuffled_(order == SampleOrder::shuffled),
      next_(samples()) {
  const auto on_device = [&](const std::vector<double>& values) {
    const torch::Tensor tensor = torch::tensor(values, torch::kFloat).to(device.device());
    return values.size() == 1 ? tensor.squeeze(0) : tensor.view({-1, 1, 1});
  };
  if (!data.mean.empty()) {
    largest_ = on_device({255});
    mean_ = on_device(data.mean);
    std_ = on_device(data.std);
  }
  if (is_shuffled_ || share.size > 1) {
    order_ = torch::empty({samples()}, split.targets.options().dtype(torch::kLong));
  }
}

void Loader::start_pass() {
  draw_seed();  // the base seed that Python's worker processes would get
  if (is_shuffled_) pass_seed_ = draw_seed();
  put_in_order();
  next_ = 0;
}

void Loader::exchange(RunState& state) {
  state.value("loader.pass_seed", pass_seed_);
  state.value("loader.next", next_);
  if (state.restores()) put_in_order();
}

void Loader::put_in_order() {
  if (is_shuffled_) {
    at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(pass_seed_);
    order_.copy_(shared(torch::randperm(split_.size(), generator, torch::kLong)));
  } else if (order_.defined()) {
    order_.copy_(shared(torch::arange(split_.size(), torch::kLong)));
  }
}

torch::Tensor Loader::shared(const torch::Tensor& order) const {
  if (share_.size == 1) return order;
  const torch::Tensor places = torch::arange(share_.rank, samples() * share_.size, share_.size);
  return order.index_select(0, places.remainder(order.size(0)));
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
  batch.input = gather(split_.samples, count);
  batch.target = gather(split_.targets, count).to(torch::kLong);
  next_ += count;
  batch.input = prepared(std::move(batch.input));
  return batch;
}

torch::Tensor Loader::prepared(torch::Tensor samples) const {
  if (data_.kind == SampleKind::text) return samples.to(torch::kLong);
  if (is_shuffled_ && data_.augment) samples = random_crop_and_flip(samples, device_);
  // Whole numbers are ids or masks: they stay what they are, as Fabric leaves them. float64 stays
  // for 64-true; float16 and bfloat16 lose nothing.
  const bool is_scaled = mean_.defined();
  const bool is_narrow = samples.is_floating_point() && samples.scalar_type() != torch::kDouble;
  if (is_scaled || is_narrow) samples = samples.to(torch::kFloat);
  // Samples are fed as they are stored, but a module may write into what it gets.
  if (samples.is_alias_of(split_.samples)) samples = samples.clone();
  if (is_scaled) samples.div_(largest_).sub_(mean_).div_(std_);
  const int64_t size = data_.image_size;
  if (size > 0 && (samples.size(2) != size || samples.size(3) != size)) {
    // Antialiased, as torchvision's Resize.
    samples = at::_upsample_bilinear2d_aa(samples, {size, size}, /*align_corners=*/false);
  }
  return in_layout(samples, format_);
}

}  // namespace precbench::train
