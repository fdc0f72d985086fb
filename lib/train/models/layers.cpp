#include "train/models/layers.h"

#include <ATen/autocast_mode.h>

#include <cmath>
#include <optional>

#include "train/models/onednn_linear.h"

namespace precbench::train {

torch::Tensor linear(const torch::Tensor& input, const torch::Tensor& weight,
                     const torch::Tensor& bias, GemmBackend gemm) {
  const bool plain_fp32 = input.scalar_type() == at::kFloat && input.is_cpu() &&
                          !at::autocast::is_autocast_enabled(at::kCPU);
  if (gemm == GemmBackend::onednn && plain_fp32) return onednn_linear(input, weight, bias);
  return at::linear(input, weight, bias);
}

LinearImpl::LinearImpl(int64_t in_features, int64_t out_features, GemmBackend gemm, Bias has_bias)
    : gemm_(gemm) {
  weight = register_parameter("weight", torch::empty({out_features, in_features}));
  if (has_bias == Bias::yes) bias = register_parameter("bias", torch::empty({out_features}));
  // torch.nn.Linear.reset_parameters: the weight first, then the bias.
  torch::nn::init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (has_bias == Bias::no) return;
  const double bound = 1.0 / std::sqrt(static_cast<double>(in_features));
  torch::nn::init::uniform_(bias, -bound, bound);
}

torch::Tensor LinearImpl::forward(const torch::Tensor& input) {
  if (float8_) return float8_linear(input, weight, bias, float8_);
  return linear(input, weight, bias, gemm_);
}

void LinearImpl::use_float8(const Float8Layer& layer) { float8_ = register_module("fp8", layer); }

LayerNormImpl::LayerNormImpl(int64_t extent, double epsilon) : epsilon_(epsilon) {
  weight = register_parameter("weight", torch::ones({extent}));
  bias = register_parameter("bias", torch::zeros({extent}));
}

torch::Tensor LayerNormImpl::forward(const torch::Tensor& input) {
  std::optional<c10::impl::ExcludeDispatchKeyGuard> outside;
  if (ignores_autocast_) outside.emplace(c10::autocast_dispatch_keyset);
  return at::layer_norm(input, weight.sizes(), weight, bias, epsilon_);
}

}  // namespace precbench::train
