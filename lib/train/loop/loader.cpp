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

Loader::Loader(const DataSet& data, const Split& split, SampleOrder order, int64_t batch_size,
               at::MemoryFormat format)
    : data_(data), split_(split), batch_size_(batch_size), format_(format), next_(split.size()) {
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

Batch Loader::next() {
  const int64_t count = std::min(batch_size_, samples() - next_);
  Batch batch;
  torch::Tensor pixels;
  if (order_.defined()) {
    const torch::Tensor indices = order_.narrow(0, next_, count);
    pixels = split_.images.index_select(0, indices);
    batch.target = split_.labels.index_select(0, indices);
  } else {
    pixels = split_.images.narrow(0, next_, count);
    batch.target = split_.labels.narrow(0, next_, count);
  }
  next_ += count;
  if (order_.defined() && data_.augment) pixels = random_crop_and_flip(pixels);
  batch.input = pixels.to(torch::kFloat).div_(255).sub_(data_.mean).div_(data_.std);
  const int64_t size = data_.image_size;
  if (size > 0 && (batch.input.size(2) != size || batch.input.size(3) != size)) {
    // Antialiased, as torchvision's Resize.
    batch.input = at::_upsample_bilinear2d_aa(batch.input, {size, size}, /*align_corners=*/false);
  }
  batch.input = batch.input.contiguous(format_);
  return batch;
}

}  // namespace precbench::train
