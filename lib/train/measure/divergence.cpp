#include "train/measure/divergence.h"

#include <algorithm>
#include <cmath>

namespace precbench::train {
namespace {

std::optional<std::string> divergence_of(const StepRecord& step, const std::string& at) {
  if (!std::isfinite(step.loss) && !step.skipped) {
    return "the loss became " + std::string(std::isnan(step.loss) ? "nan" : "infinite") + at;
  }
  if (step.non_finite_weights) return "weights became infinite or nan" + at;
  if (step.scale > 0 && step.scale < 1) return "the loss scale fell under 1" + at;
  return std::nullopt;
}

}  // namespace

void DivergenceWatch::after_step(Step& step) {
  if (step.result.is_unclippable && !reason_) {
    reason_ = "the gradients could not be clipped, since their norm is not finite, at step " +
              std::to_string(step.number);
  }
  look();
  if (reason_ && !keeps_going_) step.ends_training = true;
}

void DivergenceWatch::after_epoch(bool is_last) {
  look();
  if (is_last && !is_pilot_) look_back();
}

void DivergenceWatch::exchange(RunState& state) {
  state.value("divergence.seen", seen_);
  state.value("divergence.reason", reason_);
}

void DivergenceWatch::look() {
  for (; seen_ < steps_.size(); ++seen_) {
    if (!reason_) reason_ = divergence_of(steps_[seen_], " at step " + std::to_string(seen_));
  }
}

// Where the scaler skipped every step, the weights are those that training began with.
void DivergenceWatch::look_back() {
  const auto is_skipped = [](const StepRecord& step) { return step.skipped; };
  if (reason_ || steps_.empty() || !std::all_of(steps_.begin(), steps_.end(), is_skipped)) return;
  reason_ = steps_.size() == 1
                ? "the loss scaler skipped the only step"
                : "the loss scaler skipped all " + std::to_string(steps_.size()) + " steps";
  *reason_ += ": nothing was trained";
}

}  // namespace precbench::train
