// The learning rate of each step.
#pragma once

#include <cstdint>

#include "common/job.h"

namespace precbench::train {

// Optimizer steps, and the epochs that they take.
struct TrainingLength {
  int64_t steps, epochs;
};

// `batches` of an epoch.
TrainingLength length_of(const TrainJob& job, int64_t batches);

class Schedule {
 public:
  // The job's names are checked already (job_checks.h).
  Schedule(const ScheduleJob& job, double base_rate, int64_t total_steps);

  // `step` counts from 0. Linear from base / warmup_steps to base, then constant; cosine to 0 at
  // the last step; or step: a tenth from half of the steps on, a hundredth from three quarters on
  // (He et al. 2015, section 4.2).
  double rate(int64_t step) const;

  bool is_constant() const { return shape_ == Shape::constant && warmup_ == 0; }

  // Whether a step that the scaler skipped leaves the schedule where it is (`on_skip` hold).
  bool holds_on_skip() const { return holds_; }

 private:
  enum class Shape { constant, cosine, step };
  Shape shape_ = Shape::constant;
  double base_rate_;
  int64_t warmup_, total_;
  bool holds_;
};

}  // namespace precbench::train
