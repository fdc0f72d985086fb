#include "train/measure/divergence.h"

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

void DivergenceWatch::report_unclippable(int64_t step) {
  if (!reason_) {
    reason_ = "the gradients could not be clipped, since their norm is not finite, at step " +
              std::to_string(step);
  }
}

}  // namespace precbench::train
