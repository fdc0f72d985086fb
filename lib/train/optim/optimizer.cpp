#include "train/optim/optimizer.h"

#include <stdexcept>

#include "train/base/dtypes.h"
#include "train/base/errors.h"
#include "train/optim/adam.h"
#include "train/optim/sgd.h"

namespace precbench::train {

Optimizer::Optimizer(std::vector<torch::Tensor> parameters, double learning_rate)
    : parameters_(std::move(parameters)), learning_rate_(learning_rate) {}

void Optimizer::drop_gradients() {
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

torch::Tensor Optimizer::first_gradient() const {
  for (const torch::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) return parameter.grad();
  }
  throw std::invalid_argument("no parameter of the model has a gradient");
}

void Optimizer::set_learning_rate(double value) {
  if (rate_.defined() && value != learning_rate_) rate_.fill_(value);
  learning_rate_ = value;
}

void Optimizer::keep_rate_on_device() {
  const auto options = torch::TensorOptions().device(parameters_.at(0).device());
  rate_ = torch::full({}, learning_rate_, options.dtype(torch::kFloat));
}

void Optimizer::exchange(RunState& state, const std::string& name,
                         std::vector<torch::Tensor>& each) const {
  for (size_t i = 0; i < each.size(); ++i) {
    state.tensor("optimizer." + name + "." + std::to_string(i), each[i], parameters_[i].device());
  }
}

void Optimizer::step_scaled(const torch::Tensor& /*grad_scale*/,
                            const torch::Tensor& /*found_inf*/) {
  throw std::logic_error("this optimizer does not take scaled gradients");
}

Optimizer::Active Optimizer::active() const {
  Active active;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    active.indices.push_back(i);
    active.parameters.push_back(parameters_[i]);
    active.gradients.push_back(parameters_[i].grad());
  }
  return active;
}

namespace {

// at::_fused_sgd_ on the CPU leaves the vectorised part of bf16 and fp16 parameters as it was
// (pytorch#191763; up to 2.13 at least). Tried, not looked up: 100 elements are more than one
// vector.
bool fused_sgd_moves_weights(at::ScalarType dtype) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> parameter = {torch::ones({100}, dtype)};
  std::vector<torch::Tensor> gradient = {torch::ones({100}, dtype)};
  at::_fused_sgd_(parameter, gradient, {}, /*weight_decay=*/0.0, /*momentum=*/0.0, /*lr=*/0.5,
                  /*dampening=*/0.0, /*nesterov=*/false, /*maximize=*/false,
                  /*is_first_step=*/false);
  return parameter[0].eq(0.5).all().item<bool>();
}

void refuse_broken_fused_sgd(const std::vector<torch::Tensor>& parameters) {
  if (parameters.empty() || !parameters[0].is_cpu()) return;
  const at::ScalarType dtype = parameters[0].scalar_type();
  if (dtype != at::kHalf && dtype != at::kBFloat16) return;
  if (fused_sgd_moves_weights(dtype)) return;
  throw UnsupportedError("fused SGD leaves " + dtype_name(dtype) +
                         " parameters unchanged on the CPU in this LibTorch (pytorch#191763); "
                         "use --optimizer-impl loop or foreach");
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerJob& job,
                                          std::vector<torch::Tensor> parameters) {
  if (job.impl != "loop" && job.impl != "foreach" && job.impl != "fused") {
    throw std::invalid_argument("optimizer.impl '" + job.impl + "' is not loop, foreach or fused");
  }
  if (job.name == "sgd") {
    const SgdOptions options{job.lr, job.momentum, job.weight_decay, job.nesterov};
    if (job.impl == "fused") {
      refuse_broken_fused_sgd(parameters);
      return std::make_unique<FusedSgd>(std::move(parameters), options);
    }
    if (job.impl == "foreach") return std::make_unique<ForeachSgd>(std::move(parameters), options);
    return std::make_unique<LoopSgd>(std::move(parameters), options);
  }
  if (job.name == "adam" || job.name == "adamw") {
    const AdamOptions options{job.lr,  job.beta1,        job.beta2,
                              job.eps, job.weight_decay, job.name == "adamw"};
    if (job.impl == "fused") return std::make_unique<FusedAdam>(std::move(parameters), options);
    if (job.impl == "foreach") return std::make_unique<ForeachAdam>(std::move(parameters), options);
    return std::make_unique<LoopAdam>(std::move(parameters), options);
  }
  throw std::invalid_argument("optimizer.name '" + job.name + "' is not sgd, adam or adamw");
}

}  // namespace precbench::train
