// The layers that our models share.
#pragma once

#include "train/base/torch.h"
#include "train/float8/float8_linear.h"

namespace precbench::train {

// Which library multiplies fp32 matrices on the CPU: PyTorch's choice (MKL or OpenBLAS), or oneDNN,
// which is about twice as fast on AMD processors (MKL takes a slow path there).
enum class GemmBackend { library_default, onednn };

// input [.., in], weight [out, in], bias [out] or undefined -> [.., out], as one at::linear
// (torch::nn::Linear rounds twice on 3-D inputs).
torch::Tensor linear(const torch::Tensor& input, const torch::Tensor& weight,
                     const torch::Tensor& bias, GemmBackend gemm);

enum class Bias { yes, no };

// torch.nn.Linear: parameters `weight` [out, in] and `bias` [out], PyTorch's initialisation, and
// linear() as the forward pass.
class LinearImpl : public torch::nn::Module {
 public:
  LinearImpl(int64_t in_features, int64_t out_features, GemmBackend gemm,
             Bias has_bias = Bias::yes);
  torch::Tensor forward(const torch::Tensor& input);

  // From now on forward() multiplies in FP8. The layer's state becomes the child "fp8".
  void use_float8(const Float8Layer& layer);

  torch::Tensor weight, bias;

 private:
  GemmBackend gemm_;
  Float8Layer float8_{nullptr};
};
TORCH_MODULE(Linear);

// torch.nn.LayerNorm over the last dimension: `weight` and `bias` [extent], 1 and 0 at first.
class LayerNormImpl : public torch::nn::Module {
 public:
  explicit LayerNormImpl(int64_t extent, double epsilon = 1e-5);
  torch::Tensor forward(const torch::Tensor& input);

  // From now on autocast, which computes and returns it in float32 on CUDA, leaves it alone.
  void ignore_autocast() { ignores_autocast_ = true; }

  torch::Tensor weight, bias;

 private:
  double epsilon_;
  bool ignores_autocast_ = false;
};
TORCH_MODULE(LayerNorm);

}  // namespace precbench::train
