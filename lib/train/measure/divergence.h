// When a run has diverged: design.md's `diverged`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/measure/step_log.h"

namespace precbench::train {

// Looks at each step once, in order.
class DivergenceWatch {
 public:
  // Looks at the steps that it has not seen.
  void look_at(const std::vector<StepRecord>& steps);

  // Why and at which step (from 0) the run diverged first: a non-finite loss that no skip by the
  // scaler explains, non-finite weights, a scale under 1, or no step that was not skipped. Nothing
  // while it has not.
  const std::optional<std::string>& reason() const { return reason_; }

  // All steps that there are have been looked at: where the scaler skipped every one of them, the
  // weights are those that training began with.
  void look_at_all(const std::vector<StepRecord>& steps);

  // The norm of the gradients of this step was not finite, so they could not be clipped.
  void report_unclippable(int64_t step);

 private:
  size_t seen_ = 0;
  std::optional<std::string> reason_;
};

}  // namespace precbench::train
