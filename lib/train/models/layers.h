// The linear layer that our models share.
#pragma once

#include <torch/torch.h>

namespace precbench::train {

// Which library multiplies fp32 matrices on the CPU: PyTorch's choice (MKL or OpenBLAS), or oneDNN,
// which is about twice as fast on AMD processors (MKL takes a slow path there).
enum class GemmBackend { library_default, onednn };

// torch.nn.Linear: parameters `weight` [out, in] and `bias` [out], PyTorch's initialisation, and
// at::linear as the one operation of the forward pass (torch::nn::Linear rounds twice on 3-D
// inputs).
class LinearImpl : public torch::nn::Module {
 public:
  LinearImpl(int64_t in_features, int64_t out_features, GemmBackend gemm);
  torch::Tensor forward(const torch::Tensor& input);

  torch::Tensor weight, bias;

 private:
  GemmBackend gemm_;
};
TORCH_MODULE(Linear);

}  // namespace precbench::train
