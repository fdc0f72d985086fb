#include "bench/run/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/run/pilot.h"
#include "common/target.h"

namespace precbench {
namespace {

// Optimizer steps of the first `epochs` epochs.
int64_t steps_after(TrainJob job, int64_t epochs, const TrainResult& result) {
  const int64_t most = job.steps;
  job.steps = 0;
  job.epochs = epochs;
  const int64_t steps = run_size(job, result.train_samples, result.test_samples).train_steps;
  return most > 0 ? std::min(most, steps) : steps;
}

}  // namespace

std::optional<TargetRecord> target_of(const TrainJob& job, const TrainResult& result) {
  if (!has_target(job)) return std::nullopt;
  TargetRecord target;
  target.accuracy = job.target_accuracy;
  target.perplexity = job.target_perplexity;
  double time_s = 0;
  for (const EpochRecord& epoch : result.run.epochs) {
    time_s += epoch.train_s.value_or(0) + epoch.eval_s.value_or(0);
    if (!reaches_target(job, epoch.test_accuracy, epoch.test_loss)) continue;
    target.is_reached = true;
    target.epoch = epoch.epoch;
    target.steps = steps_after(job, epoch.epoch, result);
    target.time_s = time_s;
    return target;
  }
  const std::string why = fmt::format("{} epoch{} did not reach it", result.run.epochs.size(),
                                      result.run.epochs.size() == 1 ? "" : "s");
  for (const char* key : {"epoch", "steps", "time_s"}) target.unknown[key] = why;
  return target;
}

}  // namespace precbench
