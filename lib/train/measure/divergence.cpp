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

void DivergenceWatch::look_at(const std::vector<StepRecord>& steps) {
  for (; seen_ < steps.size(); ++seen_) {
    if (!reason_) reason_ = divergence_of(steps[seen_], " at step " + std::to_string(seen_));
  }
}

void DivergenceWatch::look_at_all(const std::vector<StepRecord>& steps) {
  const auto is_skipped = [](const StepRecord& step) { return step.skipped; };
  if (reason_ || steps.empty() || !std::all_of(steps.begin(), steps.end(), is_skipped)) return;
  reason_ = steps.size() == 1
                ? "the loss scaler skipped the only step"
                : "the loss scaler skipped all " + std::to_string(steps.size()) + " steps";
  *reason_ += ": nothing was trained";
}

void DivergenceWatch::report_unclippable(int64_t step) {
  if (!reason_) {
    reason_ = "the gradients could not be clipped, since their norm is not finite, at step " +
              std::to_string(step);
  }
}

}  // namespace precbench::train
