#include "train/optim/sgd.h"

#include "train/optim/scalar.h"

namespace precbench::train {

Sgd::Sgd(std::vector<torch::Tensor> parameters, const SgdOptions& options)
    : Optimizer(std::move(parameters), options.lr),
      options_(options),
      buffers_(Optimizer::parameters().size()) {}

std::vector<torch::Tensor> Sgd::state() const {
  std::vector<torch::Tensor> state;
  for (const torch::Tensor& buffer : buffers_) {
    if (buffer.defined()) state.push_back(buffer);
  }
  return state;
}

// torch/optim/sgd.py, _single_tensor_sgd.
void LoopSgd::step() {
  torch::NoGradGuard no_grad;
  const double lr = learning_rate();
  Active active = this->active();
  for (size_t i = 0; i < active.indices.size(); ++i) {
    torch::Tensor& parameter = active.parameters[i];
    torch::Tensor gradient = active.gradients[i];
    if (options_.weight_decay != 0) gradient = gradient.add(parameter, options_.weight_decay);
    if (options_.momentum != 0) {
      torch::Tensor& buffer = buffers_[active.indices[i]];
      if (buffer.defined()) {
        multiply_in_place(buffer, options_.momentum).add_(gradient);
      } else {
        buffer = gradient.detach().clone();
      }
      gradient = options_.nesterov ? gradient.add(buffer, options_.momentum) : buffer;
    }
    parameter.add_(gradient, -lr);
  }
}

// torch/optim/sgd.py, _multi_tensor_sgd.
void ForeachSgd::step() {
  torch::NoGradGuard no_grad;
  Active active = this->active();
  if (active.indices.empty()) return;
  std::vector<torch::Tensor> gradients = active.gradients;
  if (options_.weight_decay != 0) {
    gradients = at::_foreach_add(gradients, active.parameters, options_.weight_decay);
  }
  if (options_.momentum != 0) {
    std::vector<torch::Tensor> buffers;
    bool all_defined = true;
    for (const size_t index : active.indices) all_defined &= buffers_[index].defined();
    if (all_defined) {
      for (const size_t index : active.indices) buffers.push_back(buffers_[index]);
      at::_foreach_mul_(buffers, options_.momentum);
      at::_foreach_add_(buffers, gradients, 1.0);
    } else {
      for (size_t i = 0; i < active.indices.size(); ++i) {
        torch::Tensor& buffer = buffers_[active.indices[i]];
        if (buffer.defined()) {
          multiply_in_place(buffer, options_.momentum).add_(gradients[i]);
        } else {
          buffer = gradients[i].detach().clone();
        }
        buffers.push_back(buffer);
      }
    }
    if (options_.nesterov) {
      at::_foreach_add_(gradients, buffers, options_.momentum);
    } else {
      gradients = buffers;
    }
  }
  at::_foreach_add_(active.parameters, gradients, -learning_rate());
}

void FusedSgd::step() { apply(std::nullopt, std::nullopt); }

void FusedSgd::step_scaled(const torch::Tensor& grad_scale, const torch::Tensor& found_inf) {
  apply(grad_scale.defined() ? std::optional(grad_scale) : std::nullopt, found_inf);
}

void FusedSgd::apply(const std::optional<torch::Tensor>& grad_scale,
                     const std::optional<torch::Tensor>& found_inf) {
  torch::NoGradGuard no_grad;
  Active active = this->active();
  if (active.indices.empty()) return;
  std::vector<torch::Tensor> buffers;
  bool is_first_step = options_.momentum != 0;
  if (options_.momentum != 0) {
    for (size_t i = 0; i < active.indices.size(); ++i) {
      torch::Tensor& buffer = buffers_[active.indices[i]];
      is_first_step &= !buffer.defined();
      // Zeros and not PyTorch's empty_like: where the scaler skips the first step, the kernel
      // leaves the buffer unset, and zero is what makes the next step the first one (0 * momentum +
      // gradient).
      if (!buffer.defined()) buffer = torch::zeros_like(active.gradients[i]);
      buffers.push_back(buffer);
    }
  }
  const auto step = [&](const auto& rate) {
    at::_fused_sgd_(active.parameters, active.gradients, buffers, options_.weight_decay,
                    options_.momentum, rate, /*dampening=*/0.0, options_.nesterov,
                    /*maximize=*/false, is_first_step, grad_scale, found_inf);
  };
  if (rate_on_device().defined()) {
    step(rate_on_device());
  } else {
    step(learning_rate());
  }
}

}  // namespace precbench::train
