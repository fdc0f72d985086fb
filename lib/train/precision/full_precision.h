// 32-true and tf32: nothing is converted (Fabric's base class Precision).
#pragma once

#include "train/precision/precision.h"

namespace precbench::train {

class FullPrecision : public Precision {
 public:
  void convert_module(torch::nn::Module& /*module*/) override {}
  torch::Tensor convert_input(const torch::Tensor& input) const override { return input; }
  std::unique_ptr<ForwardScope> forward_scope() const override { return nullptr; }
  torch::Tensor convert_output(const torch::Tensor& output) const override { return output; }
};

}  // namespace precbench::train
