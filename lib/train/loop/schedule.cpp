#include "train/loop/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace precbench::train {

TrainingLength length_of(const TrainJob& job, int64_t batches) {
  const int64_t accumulate = job.optimizer.accumulate;
  const int64_t steps_per_epoch = (batches + accumulate - 1) / accumulate;
  const int64_t steps = job.steps > 0 ? job.steps : job.epochs * steps_per_epoch;
  return {steps, (steps + steps_per_epoch - 1) / steps_per_epoch};
}

Schedule::Schedule(const ScheduleJob& job, double base_rate, int64_t total_steps)
    : base_rate_(base_rate),
      warmup_(std::max<int64_t>(job.warmup_steps, 0)),
      total_(total_steps),
      holds_(job.on_skip == "hold") {
  if (job.name == "cosine") shape_ = Shape::cosine;
  if (job.name == "step") shape_ = Shape::step;
}

double Schedule::rate(int64_t step) const {
  if (step < warmup_) {
    return base_rate_ * static_cast<double>(step + 1) / static_cast<double>(warmup_);
  }
  if (shape_ == Shape::cosine) {
    const auto span = static_cast<double>(std::max<int64_t>(total_ - warmup_, 1));
    const double progress = std::min(static_cast<double>(step - warmup_) / span, 1.0);
    return base_rate_ * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  }
  if (shape_ == Shape::step) {
    if (4 * step >= 3 * total_) return base_rate_ * 0.01;
    if (2 * step >= total_) return base_rate_ * 0.1;
  }
  return base_rate_;
}

}  // namespace precbench::train
