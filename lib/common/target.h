// What --target-accuracy and --target-perplexity ask of an evaluation of the test set.
#pragma once

#include <cmath>
#include <optional>

#include "common/job.h"

namespace precbench {

inline bool has_target(const TrainJob& job) {
  return job.target_accuracy.has_value() || job.target_perplexity.has_value();
}

// `loss` is the mean cross entropy in nats, so that e to it is the perplexity. A figure that is
// unknown or not a number reaches nothing.
inline bool reaches_target(const TrainJob& job, std::optional<double> accuracy,
                           std::optional<double> loss) {
  if (job.target_accuracy && accuracy && *accuracy >= *job.target_accuracy) return true;
  return job.target_perplexity && loss && *loss <= std::log(*job.target_perplexity);
}

}  // namespace precbench
