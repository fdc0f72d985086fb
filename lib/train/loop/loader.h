// Batches in the order in which Python's DataLoader gives them, drawn from the global CPU generator
// in every mode and on every device.
#pragma once

#include <torch/torch.h>

#include "train/loop/data_set.h"

namespace precbench::train {

struct Batch {
  torch::Tensor input;   // float32 [batch, channels, height, width], normalised
  torch::Tensor target;  // int64 [batch]

  int64_t size() const { return target.size(0); }
};

// Training data is shuffled (and augmented where the data set says so), test data is not.
enum class SampleOrder { shuffled, as_stored };

class Loader {
 public:
  // Keeps a reference to `data`.
  Loader(const DataSet& data, const Split& split, SampleOrder order, int64_t batch_size,
         at::MemoryFormat format);

  // Begins a pass over the split. As DataLoader it draws int64 numbers from the global generator:
  // its base seed, and when shuffled the seed of the generator that permutes the samples.
  void start_pass();

  bool done() const { return next_ >= samples(); }
  Batch next();  // the last batch of a pass may be smaller

  int64_t samples() const { return split_.size(); }
  int64_t remaining() const { return samples() - next_; }  // of this pass
  int64_t batches() const { return (samples() + batch_size_ - 1) / batch_size_; }

 private:
  const DataSet& data_;
  const Split& split_;
  int64_t batch_size_;
  at::MemoryFormat format_;
  torch::Tensor order_;  // int64 [samples] on the device; undefined = as stored
  int64_t next_;
};

}  // namespace precbench::train
