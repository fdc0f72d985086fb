// 32-true and tf32: nothing is converted (Fabric's base class Precision), but for samples that a
// user saved as float64: Fabric would hand them to float32 weights, which refuse them.
#pragma once

#include "train/precision/precision.h"

namespace precbench::train {

class FullPrecision : public Precision {
 public:
  void convert_module(torch::nn::Module& /*module*/) override {}
  torch::Tensor convert_input(const torch::Tensor& input) const override {
    return input.scalar_type() == torch::kDouble ? input.to(torch::kFloat) : input;
  }
  std::unique_ptr<ForwardScope> forward_scope() const override { return nullptr; }
  torch::Tensor convert_output(const torch::Tensor& output) const override { return output; }
};

}  // namespace precbench::train
