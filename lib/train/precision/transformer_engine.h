// transformer-engine and transformer-engine-float16: everything in bfloat16 or float16, but the
// matrix products of Linear layers in FP8 where their sizes allow it (Lightning Fabric's
// TransformerEnginePrecision, without NVIDIA's library).
#pragma once

#include <exception>

#include "train/precision/true_precision.h"

namespace precbench::train {

class TransformerEnginePrecision : public TruePrecision {
 public:
  TransformerEnginePrecision(const ModeTraits& mode, at::DeviceType device,
                             const Float8Settings& float8);

  void convert_module(torch::nn::Module& module) override;

  // Default dtype, then autocast, then the FP8 region, at whose end the scales of inputs and
  // weights move where gradients are on.
  std::unique_ptr<ForwardScope> forward_scope() const override;
  std::unique_ptr<ForwardScope> init_scope() const override;

  // No loss scaling, in -float16 neither. At its end the gradients' scales move.
  void backward(const torch::Tensor& loss) override;

  Float8Layers* float8() override { return &layers_; }

 private:
  at::DeviceType device_;
  mutable Float8Layers layers_;
  mutable std::exception_ptr failure_;  // of the end of a forward pass; backward() throws it
};

}  // namespace precbench::train
