// 16-true, bf16-true, 64-true: parameters, float buffers, inputs and so gradients and optimizer
// state in one dtype; the output and the loss in float32 (Fabric's HalfPrecision and
// DoublePrecision).
#pragma once

#include "train/precision/precision.h"

namespace precbench::train {

class TruePrecision : public Precision {
 public:
  explicit TruePrecision(const ModeTraits& mode);

  void convert_module(torch::nn::Module& module) override;
  torch::Tensor convert_input(const torch::Tensor& input) const override;
  std::unique_ptr<ForwardScope> forward_scope() const override;
  std::unique_ptr<ForwardScope> init_scope() const override { return forward_scope(); }
  torch::Tensor convert_output(const torch::Tensor& output) const override;

 protected:
  at::ScalarType dtype() const { return dtype_; }

 private:
  at::ScalarType dtype_;
};

}  // namespace precbench::train
