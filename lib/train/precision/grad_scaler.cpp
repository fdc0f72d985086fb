#include "train/precision/grad_scaler.h"

#include <map>
#include <utility>

namespace precbench::train {

GradScaler::GradScaler(const GradScalerState& state) { load_state(state); }

torch::Tensor GradScaler::scale(const torch::Tensor& loss) {
  if (!scale_.defined()) {
    const auto on_device = torch::TensorOptions().device(loss.device());
    scale_ = torch::full({}, state_.scale, on_device.dtype(torch::kFloat));
    growth_tracker_ = torch::full({}, state_.growth_tracker, on_device.dtype(torch::kInt));
  }
  return loss * scale_;
}

void GradScaler::require_scale(const char* caller) const {
  if (!scale_.defined()) {
    throw GradScalerError(std::string("Attempted ") + caller +
                          " but _scale is None.  This may indicate your script did not use "
                          "scaler.scale(loss or outputs) earlier in the iteration.");
  }
}

torch::Tensor GradScaler::check_and_multiply(Optimizer& optimizer, const torch::Tensor& factor,
                                             bool allow_fp16) {
  torch::NoGradGuard no_grad;
  std::map<at::ScalarType, std::vector<torch::Tensor>> gradients;  // the kernel takes one dtype
  for (const torch::Tensor& parameter : optimizer.parameters()) {
    const torch::Tensor& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (!allow_fp16 && gradient.scalar_type() == at::kHalf) {
      throw GradScalerError("Attempting to unscale FP16 gradients.");
    }
    gradients[gradient.scalar_type()].push_back(gradient);
  }
  if (gradients.empty()) return {};
  torch::Tensor found_inf = torch::full({}, 0.0F, factor.options());
  for (auto& [dtype, list] : gradients) {
    at::_amp_foreach_non_finite_check_and_unscale_(list, found_inf, factor);
  }
  return found_inf;
}

void GradScaler::unscale(Optimizer& optimizer) {
  require_scale("unscale_");
  OptimizerState& state = optimizers_[&optimizer];
  if (state.stage == Stage::unscaled) {
    throw GradScalerError(
        "unscale_() has already been called on this optimizer since the last update().");
  }
  if (state.stage == Stage::stepped) {
    throw GradScalerError("unscale_() is being called after step().");
  }
  // Through double, as PyTorch: an fp32 division may be inexact under some compiler options.
  const torch::Tensor inverse = scale_.to(torch::kDouble).reciprocal().to(torch::kFloat);
  state.found_inf = check_and_multiply(optimizer, inverse, /*allow_fp16=*/false);
  state.stage = Stage::unscaled;
}

torch::Tensor GradScaler::step(Optimizer& optimizer) {
  require_scale("step");
  OptimizerState& state = optimizers_[&optimizer];
  if (state.stage == Stage::stepped) {
    throw GradScalerError("step() has already been called since the last update().");
  }
  if (optimizer.takes_scaled_gradients()) {
    const bool unscaled = state.stage == Stage::unscaled;
    if (!unscaled) {
      const torch::Tensor one = torch::full({}, 1.0F, scale_.options());
      state.found_inf = check_and_multiply(optimizer, one, /*allow_fp16=*/true);
    }
    if (!state.found_inf.defined()) {
      throw GradScalerError("No inf checks were recorded for this optimizer.");
    }
    optimizer.step_scaled(unscaled ? torch::Tensor() : scale_, state.found_inf);
    state.stage = Stage::stepped;
    return state.found_inf;
  }
  if (state.stage == Stage::ready) unscale(optimizer);
  if (!state.found_inf.defined()) {
    throw GradScalerError("No inf checks were recorded for this optimizer.");
  }
  if (state.found_inf.item<float>() == 0.0F) optimizer.step();
  state.stage = Stage::stepped;
  return state.found_inf;
}

void GradScaler::update() {
  require_scale("update");
  torch::Tensor found_inf;
  for (const auto& [optimizer, state] : optimizers_) {
    if (!state.found_inf.defined()) continue;
    found_inf = found_inf.defined() ? found_inf + state.found_inf : state.found_inf;
  }
  if (!found_inf.defined()) {
    throw GradScalerError("No inf checks were recorded prior to update.");
  }
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf, state_.growth_factor,
                         state_.backoff_factor, state_.growth_interval);
  optimizers_.clear();
}

double GradScaler::current_scale() const {
  return scale_.defined() ? static_cast<double>(scale_.item<float>()) : state_.scale;
}

const torch::Tensor& GradScaler::scale_tensor() const { return scale_; }

GradScalerState GradScaler::state() const {
  GradScalerState state = state_;
  state.scale = current_scale();
  if (growth_tracker_.defined()) state.growth_tracker = growth_tracker_.item<int>();
  return state;
}

void GradScaler::load_state(const GradScalerState& state) {
  if (!(state.growth_factor > 1.0)) {
    throw std::invalid_argument("The growth factor must be > 1.0.");
  }
  if (!(state.backoff_factor < 1.0)) {
    throw std::invalid_argument("The backoff factor must be < 1.0.");
  }
  state_ = state;
  if (scale_.defined()) {
    scale_.fill_(state.scale);
    growth_tracker_.fill_(state.growth_tracker);
  }
}

}  // namespace precbench::train
