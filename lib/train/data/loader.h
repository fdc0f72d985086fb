// Batches in the order in which Python's DataLoader gives them, drawn from the global CPU generator
// in every mode and on every device.
#pragma once

#include "train/base/run_state.h"
#include "train/base/torch.h"
#include "train/data/data_set.h"

namespace precbench::train {

struct Batch {
  // float32 [batch, channels, height, width], normalised; text: int64 tokens. Of a bundle also
  // float64, int64 or bool, of any shape.
  torch::Tensor input;
  torch::Tensor target;  // int64 [batch]; text: [batch, context]

  int64_t size() const { return target.size(0); }
};

// As Python's tensor.to(memory_format=..): to contiguous(channels_last) one channel is in every
// layout already, and convolutions go on in the one that its strides suggest.
torch::Tensor in_layout(const torch::Tensor& tensor, at::MemoryFormat format);

// Of several workers (train/parallel), which one this is.
struct Share {
  int64_t rank = 0, size = 1;
};

// Training data is shuffled (and augmented where the data set says so), test data is not.
enum class SampleOrder { shuffled, as_stored };

class Loader {
 public:
  // Keeps references to `device` and `data`. Where the samples are not on the device, each batch is
  // gathered in host memory and copied there as uint8, while the device works on the one before.
  //
  // Of a share, every size-th sample of the pass from the rank-th on, as Python's
  // DistributedSampler: the first samples of the pass come again at its end, until all ranks have
  // equally many.
  Loader(DeviceModule& device, const DataSet& data, const Split& split, SampleOrder order,
         int64_t batch_size, at::MemoryFormat format, Share share = {});

  // Begins a pass over the split. As DataLoader it draws int64 numbers from the global generator:
  // its base seed, and when shuffled the seed of the generator that permutes the samples.
  void start_pass();

  // The place in the pass; its order follows from its seed.
  void exchange(RunState& state);

  bool done() const { return next_ >= samples(); }
  Batch next();  // the last batch of a pass may be smaller

  int64_t samples() const { return (split_.size() + share_.size - 1) / share_.size; }
  int64_t remaining() const { return samples() - next_; }  // of this pass
  int64_t target_classes() const { return data_.target_classes(); }
  int64_t targets_per_sample() const { return data_.targets_per_sample(); }
  int64_t batches() const { return (samples() + batch_size_ - 1) / batch_size_; }

 private:
  void put_in_order();
  // [count] samples of `all` from the pass's position on, in its order, on the device.
  torch::Tensor gather(const torch::Tensor& all, int64_t count) const;
  torch::Tensor shared(const torch::Tensor& order) const;  // our share of it
  torch::Tensor prepared(torch::Tensor samples) const;     // as the model gets them

  DeviceModule& device_;
  const DataSet& data_;
  const Split& split_;
  int64_t batch_size_;
  at::MemoryFormat format_;
  Share share_;
  bool is_shuffled_;
  // float32 on the device, one number or [channels, 1, 1]. By a number that the host holds, CUDA
  // would not divide but multiply with its reciprocal (ATen/native/cuda/BinaryDivTrueKernel.cu),
  // one ulp off Python's pixels, which are normalised on the CPU.
  torch::Tensor largest_, mean_, std_;
  torch::Tensor order_;  // int64 [samples] where the samples are; undefined: all, as stored
  int64_t next_;
  uint64_t pass_seed_ = 0;
};

}  // namespace precbench::train
