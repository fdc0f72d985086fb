#include "train/optim/adam.h"

#include <cmath>

#include "train/optim/scalar.h"

namespace precbench::train {
namespace {

// The host-side numbers of one step, in Python's order of operations.
struct BiasCorrection {
  double step_size, second_sqrt;

  BiasCorrection(const AdamOptions& options, double lr, int64_t step) {
    const auto exponent = static_cast<double>(step);
    step_size = lr / (1 - std::pow(options.beta1, exponent));
    second_sqrt = std::pow(1 - std::pow(options.beta2, exponent), 0.5);
  }
};

}  // namespace

Adam::Adam(std::vector<torch::Tensor> parameters, const AdamOptions& options)
    : Optimizer(std::move(parameters), options.lr),
      options_(options),
      exp_avgs_(Optimizer::parameters().size()),
      exp_avg_sqs_(Optimizer::parameters().size()) {}

std::vector<torch::Tensor> Adam::state() const {
  std::vector<torch::Tensor> state;
  for (size_t i = 0; i < exp_avgs_.size(); ++i) {
    if (!exp_avgs_[i].defined()) continue;
    state.push_back(exp_avgs_[i]);
    state.push_back(exp_avg_sqs_[i]);
  }
  return state;
}

void Adam::exchange(RunState& state) {
  exchange(state, "exp_avg", exp_avgs_);
  exchange(state, "exp_avg_sq", exp_avg_sqs_);
}

void LoopAdam::exchange(RunState& state) {
  Adam::exchange(state);
  state.value("optimizer.steps", steps_);
}

void ForeachAdam::exchange(RunState& state) {
  Adam::exchange(state);
  state.value("optimizer.steps", steps_);
}

void FusedAdam::exchange(RunState& state) {
  Adam::exchange(state);
  Optimizer::exchange(state, "steps", steps_);
}

Adam::Moments Adam::moments_of(const Active& active) {
  Moments moments;
  for (size_t i = 0; i < active.indices.size(); ++i) {
    const size_t index = active.indices[i];
    if (!exp_avgs_[index].defined()) {
      exp_avgs_[index] = torch::zeros_like(active.parameters[i]);
      exp_avg_sqs_[index] = torch::zeros_like(active.parameters[i]);
    }
    moments.first.push_back(exp_avgs_[index]);
    moments.second.push_back(exp_avg_sqs_[index]);
  }
  return moments;
}

LoopAdam::LoopAdam(std::vector<torch::Tensor> parameters, const AdamOptions& options)
    : Adam(std::move(parameters), options), steps_(Optimizer::parameters().size()) {}

// torch/optim/adam.py, _single_tensor_adam.
void LoopAdam::step() {
  torch::NoGradGuard no_grad;
  const double lr = learning_rate();
  Active active = this->active();
  Moments moments = moments_of(active);
  for (size_t i = 0; i < active.indices.size(); ++i) {
    torch::Tensor& parameter = active.parameters[i];
    torch::Tensor gradient = active.gradients[i];
    const BiasCorrection correction(options_, lr, ++steps_[active.indices[i]]);
    if (options_.weight_decay != 0) {
      if (options_.decoupled_weight_decay) {
        multiply_in_place(parameter, 1 - lr * options_.weight_decay);
      } else {
        gradient = gradient.add(parameter, options_.weight_decay);
      }
    }
    moments.first[i].lerp_(gradient, 1 - options_.beta1);
    multiply_in_place(moments.second[i], options_.beta2)
        .addcmul_(gradient, gradient, 1 - options_.beta2);
    const torch::Tensor denominator =
        moments.second[i].sqrt().div(correction.second_sqrt).add_(options_.eps);
    parameter.addcdiv_(moments.first[i], denominator, -correction.step_size);
  }
}

ForeachAdam::ForeachAdam(std::vector<torch::Tensor> parameters, const AdamOptions& options)
    : Adam(std::move(parameters), options), steps_(Optimizer::parameters().size()) {}

// torch/optim/adam.py, _multi_tensor_adam (not capturable).
void ForeachAdam::step() {
  torch::NoGradGuard no_grad;
  const double lr = learning_rate();
  Active active = this->active();
  if (active.indices.empty()) return;
  Moments moments = moments_of(active);
  std::vector<at::Scalar> step_sizes, second_sqrts;
  for (const size_t index : active.indices) {
    const BiasCorrection correction(options_, lr, ++steps_[index]);
    step_sizes.emplace_back(-correction.step_size);
    second_sqrts.emplace_back(correction.second_sqrt);
  }
  std::vector<torch::Tensor> gradients = active.gradients;
  if (options_.weight_decay != 0) {
    if (options_.decoupled_weight_decay) {
      at::_foreach_mul_(active.parameters, 1 - lr * options_.weight_decay);
    } else {
      gradients = at::_foreach_add(gradients, active.parameters, options_.weight_decay);
    }
  }
  at::_foreach_lerp_(moments.first, gradients, 1 - options_.beta1);
  at::_foreach_mul_(moments.second, options_.beta2);
  at::_foreach_addcmul_(moments.second, gradients, gradients, 1 - options_.beta2);
  gradients.clear();
  std::vector<torch::Tensor> denominators = at::_foreach_sqrt(moments.second);
  at::_foreach_div_(denominators, second_sqrts);
  at::_foreach_add_(denominators, options_.eps);
  at::_foreach_addcdiv_(active.parameters, moments.first, denominators, step_sizes);
}

FusedAdam::FusedAdam(std::vector<torch::Tensor> parameters, const AdamOptions& options)
    : Adam(std::move(parameters), options), steps_(Optimizer::parameters().size()) {}

void FusedAdam::step() { apply(std::nullopt, std::nullopt); }

void FusedAdam::step_scaled(const torch::Tensor& grad_scale, const torch::Tensor& found_inf) {
  apply(grad_scale.defined() ? std::optional(grad_scale) : std::nullopt, found_inf);
}

void FusedAdam::apply(const std::optional<torch::Tensor>& grad_scale,
                      const std::optional<torch::Tensor>& found_inf) {
  torch::NoGradGuard no_grad;
  Active active = this->active();
  if (active.indices.empty()) return;
  Moments moments = moments_of(active);
  std::vector<torch::Tensor> steps;
  for (size_t i = 0; i < active.indices.size(); ++i) {
    torch::Tensor& step = steps_[active.indices[i]];
    if (!step.defined()) {
      step = torch::zeros({}, active.parameters[i].options().dtype(torch::kFloat));
    }
    steps.push_back(step);
  }
  at::_foreach_add_(steps, 1);
  const auto update = [&](const auto& rate) {
    if (options_.decoupled_weight_decay) {
      at::_fused_adamw_(active.parameters, active.gradients, moments.first, moments.second, {},
                        steps, rate, options_.beta1, options_.beta2, options_.weight_decay,
                        options_.eps, /*amsgrad=*/false, /*maximize=*/false, grad_scale, found_inf);
    } else {
      at::_fused_adam_(active.parameters, active.gradients, moments.first, moments.second, {},
                       steps, rate, options_.beta1, options_.beta2, options_.weight_decay,
                       options_.eps, /*amsgrad=*/false, /*maximize=*/false, grad_scale, found_inf);
    }
  };
  if (rate_on_device().defined()) {
    update(rate_on_device());
  } else {
    update(learning_rate());
  }
  // A skipped step does not count.
  if (found_inf) {
    at::_foreach_sub_(steps, std::vector<torch::Tensor>(steps.size(), *found_inf));
  }
}

}  // namespace precbench::train
