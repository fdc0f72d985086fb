// 16-mixed and bf16-mixed: fp32 weights, autocast around the forward pass, and for fp16 a
// GradScaler (Fabric's MixedPrecision).
#pragma once

#include <optional>

#include "train/precision/precision.h"

namespace precbench::train {

class MixedPrecision : public Precision {
 public:
  MixedPrecision(const ModeTraits& mode, at::DeviceType device);

  void convert_module(torch::nn::Module& /*module*/) override {}
  torch::Tensor convert_input(const torch::Tensor& input) const override;
  std::unique_ptr<ForwardScope> forward_scope() const override;
  torch::Tensor convert_output(const torch::Tensor& output) const override;
  void backward(const torch::Tensor& loss) override;
  void unscale_gradients(Optimizer& optimizer) override;
  StepOutcome step(Optimizer& optimizer) override;
  GradScaler* scaler() override { return scaler_ ? &*scaler_ : nullptr; }

 private:
  at::DeviceType device_;
  at::ScalarType dtype_;
  std::optional<GradScaler> scaler_;
};

}  // namespace precbench::train
