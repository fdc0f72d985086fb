// Which operations ran with which dtypes: as the device's kernels get them, below autocast and
// autograd. For tests.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "train/base/torch.h"

namespace precbench::train::simulated {

struct TracedOperation {
  std::string name;  // "aten::cudnn_convolution", "aten::addmm.out"
  std::vector<at::ScalarType> inputs, outputs;
};

class Trace {
 public:
  void start();
  std::vector<TracedOperation> stop();
  bool is_on() const { return is_on_; }
  void add(TracedOperation operation);

 private:
  std::mutex mutex_;
  bool is_on_ = false;
  std::vector<TracedOperation> operations_;
};

}  // namespace precbench::train::simulated
