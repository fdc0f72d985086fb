// A linear layer's three matrix products in FP8, on at::_scaled_mm: LibTorch has no such layer.
// Forward e4m3 x e4m3 with fast accumulation; input gradient e5m2 x e4m3 and weight gradient
// e5m2 x e4m3 without (Transformer Engine's te.Linear under DelayedScaling, format HYBRID).
#pragma once

#include "train/base/torch.h"
#include "train/float8/float8_scaling.h"

namespace precbench::train {

// What runs the products: at::_scaled_mm, or, on GPUs before Ada (8.9) where it refuses to,
// float32 products of the same FP8 numbers.
enum class Float8Kernel { scaled_mm, emulated };

// The FP8 side of one layer; a child module of it, so that scales and histories go to the device
// and into the checkpoint with the weights. Their names: `input_scale`, `input_amax_history`,
// `weight_...`, `gradient_...`; the dynamic recipe has no histories.
class Float8LayerImpl : public torch::nn::Module {
 public:
  Float8LayerImpl(const Float8Job& recipe, Float8Kernel kernel);

  // At the end of a forward pass that trains, and of a backward pass.
  void end_forward();
  void end_backward();

  void count(bool on);

  Float8Kernel kernel;
  Float8Scaling input, weight, gradient;

  // Of the last training step. FLOPs: 2 for each multiplication with its addition, over the
  // products that ran; copy bytes: the FP8 copies of input and weight kept from forward to
  // backward.
  double flops = 0;
  int64_t copy_bytes = 0;
};
TORCH_MODULE(Float8Layer);

// Whether a name of a state dictionary belongs to a Float8Layer that is a child named "fp8".
bool is_float8_state(const std::string& name);

// input [.., in], weight [out, in], bias [out] or undefined -> [.., out] in the weight's dtype,
// bfloat16 or float16, to which the input is cast first. Differentiable. Records the tensors' amax
// where gradients are on, so in training alone.
torch::Tensor float8_linear(const torch::Tensor& input, const torch::Tensor& weight,
                            const torch::Tensor& bias, Float8Layer layer);

}  // namespace precbench::train
