// `--checkpoint-every`: what a run leaves so that another process can go on with it, and how it
// goes on.
#pragma once

#include <optional>
#include <string>

#include "common/job.h"
#include "train/base/run_state.h"
#include "train/loop/run_observers.h"
#include "train/loop/run_record_builder.h"
#include "train/loop/training.h"

namespace precbench::train {

class Checkpoints {
 public:
  // Keeps references. Restores what the job goes on from; throws FileError where that does not fit.
  Checkpoints(const TrainJob& job, const TrainingParts& parts, Training& training,
              RunObservers& watched, RunMeasurements& measured);

  // The epoch, from 1, that training goes on with.
  int64_t first_epoch() const { return static_cast<int64_t>(measured_.epochs.size()) + 1; }

  // A sentence where one could not be written. That costs no run.
  const std::optional<std::string>& trouble() const { return trouble_; }

 private:
  bool is_due() const;
  void save();
  void restore();
  void exchange(RunState& state);

  const TrainJob& job_;
  TrainingParts parts_;
  Training& training_;
  RunObservers& watched_;
  RunMeasurements& measured_;
  double last_s_ = 0;
  std::optional<std::string> trouble_;
};

}  // namespace precbench::train
