// A network: a module with one forward pass from a batch to logits.
#pragma once

#include <torch/torch.h>

#include <memory>

namespace precbench::train {

class Model : public torch::nn::Module {
 public:
  // input [batch, channels, height, width] of a floating dtype -> logits [batch, classes].
  virtual torch::Tensor forward(const torch::Tensor& input) = 0;
};

}  // namespace precbench::train
