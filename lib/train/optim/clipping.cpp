#include "train/optim/clipping.h"

namespace precbench::train {
namespace {

std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

}  // namespace

torch::Tensor clip_gradients_by_norm(const std::vector<torch::Tensor>& parameters, double max_norm,
                                     bool error_if_nonfinite) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients = gradients_of(parameters);
  if (gradients.empty()) return torch::zeros({});
  const torch::Tensor total =
      at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2.0)), 2.0);
  if (error_if_nonfinite && !total.isfinite().item<bool>()) {
    throw NonFiniteNormError(
        "The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot "
        "be "
        "clipped.");
  }
  // PyTorch's small number against a division by zero (torch/nn/utils/clip_grad.py).
  constexpr double kTiny = 1e-6;
  // Python evaluates `max_norm / tensor` as a reciprocal and a multiplication.
  const torch::Tensor coefficient = (total + kTiny).reciprocal().mul(max_norm).clamp_max(1.0);
  at::_foreach_mul_(gradients, coefficient);
  return total;
}

void clip_gradients_by_value(const std::vector<torch::Tensor>& parameters, double clip_value) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients = gradients_of(parameters);
  if (gradients.empty()) return;
  at::_foreach_clamp_min_(gradients, -clip_value);
  at::_foreach_clamp_max_(gradients, clip_value);
}

}  // namespace precbench::train
