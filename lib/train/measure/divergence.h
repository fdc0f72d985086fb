// When a run has diverged: design.md's `diverged`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/measure/observer.h"
#include "train/measure/step_log.h"

namespace precbench::train {

// Looks at each step once, in order, as soon as the log has been read back.
class DivergenceWatch : public Observer {
 public:
  // Keeps a reference. Training ends where a run diverges, unless it is to keep going.
  DivergenceWatch(const std::vector<StepRecord>& steps, bool keeps_going, bool is_pilot)
      : steps_(steps), keeps_going_(keeps_going), is_pilot_(is_pilot) {}

  void after_step(Step& step) override;
  void after_epoch(bool is_last) override;

  void exchange(RunState& state);

  // Why and at which step (from 0) the run diverged first: a non-finite loss that no skip by the
  // scaler explains, non-finite weights, a scale under 1, or no step that was not skipped. Nothing
  // while it has not.
  const std::optional<std::string>& reason() const { return reason_; }

 private:
  void look();       // at the steps that it has not seen
  void look_back();  // at all of them

  const std::vector<StepRecord>& steps_;
  bool keeps_going_, is_pilot_;
  size_t seen_ = 0;
  std::optional<std::string> reason_;
};

}  // namespace precbench::train
