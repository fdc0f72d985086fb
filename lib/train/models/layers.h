// The linear layer that our models share.
#pragma once

#include <torch/torch.h>

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

  torch::Tensor weight, bias;

 private:
  GemmBackend gemm_;
};
TORCH_MODULE(Linear);

}  // namespace precbench::train
