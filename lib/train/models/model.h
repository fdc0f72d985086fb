// A network: a module with one forward pass from a batch to logits.
#pragma once

#include <memory>

#include "train/base/torch.h"

namespace precbench::train {

class Model : public torch::nn::Module {
 public:
  // Images: input [batch, channels, height, width] of a floating dtype -> logits [batch, classes].
  // Text: input [batch, context], int64 tokens -> logits [batch, context, tokens that there are].
  virtual torch::Tensor forward(const torch::Tensor& input) = 0;
};

}  // namespace precbench::train
