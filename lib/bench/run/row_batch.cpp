#include "bench/run/row_batch.h"

#include <fmt/format.h>

#include "bench/plan/resolve_device.h"
#include "bench/run/pilot.h"
#include "common/errors.h"
#include "common/printable.h"

namespace precbench {
namespace {

// The optimizer makes its state in the first step, so that the second needs the most.
constexpr int64_t kTrialSteps = 2;

class RowTrials {
 public:
  RowTrials(const Plan& plan, const PlannedRow& row, const DeviceChoice& device, JobRunner& runner,
            Console& console)
      : plan_(plan), row_(row), device_(device), runner_(runner), console_(console) {}

  RowBatch search(int64_t samples) {
    const int64_t limit_bytes = plan_.job.memory_limit_bytes;
    const std::optional<int64_t> limit =
        limit_bytes > 0 ? std::optional(limit_bytes) : device_.facts.memory_bytes;
    RowBatch found;
    if (samples == 0) {
      const BatchTrial one = attempt(1);
      found.search.trials = {one};
      if (!one.fits) found.search.too_large = one;
    }
    const int64_t most = samples > 0 ? samples : train_samples_;
    if (most > 0 && !has_ended()) {
      found.search = find_largest_batch(plan_.job.batch_size, most, limit, [&](int64_t size) {
        // Another error than memory would come with every size.
        return has_ended() ? BatchTrial{size, false, {}, problem_} : attempt(size);
      });
    }
    found.problem = problem_;
    return found;
  }

 private:
  bool has_ended() const { return !problem_.empty() || runner_.interrupted(); }

  BatchTrial attempt(int64_t batch_size) {
    Job job = job_on(
        device_, plan_,
        pilot_job(job_for(plan_, row_, plan_.seeds.front(), device_.is_cuda()), kTrialSteps));
    job.train.batch_size = batch_size;
    job.train.optimizer.accumulate = 1;
    const JobOutcome outcome = runner_.run(job, {plan_.timeout_s}, nullptr, nullptr);
    BatchTrial trial;
    trial.batch_size = batch_size;
    if (outcome.result && outcome.result->train) {
      trial.fits = true;
      trial.peak_bytes = outcome.result->train->run.memory.peak_allocated_bytes;
      train_samples_ = outcome.result->train->train_samples;
    } else {
      trial.reason = std::string(name_of(outcome.status)) + ": " + outcome.reason.value_or("");
      if (outcome.status != Status::oom) problem_ = trial.reason;
    }
    const std::string told =
        trial.fits
            ? fmt::format("{:.0f} MiB", static_cast<double>(trial.peak_bytes.value_or(0)) / 0x1p20)
            : printable(trial.reason);
    console_.info(fmt::format("  {} batch {}: {}", row_.name(), batch_size, told));
    return trial;
  }

  const Plan& plan_;
  const PlannedRow& row_;
  const DeviceChoice& device_;
  JobRunner& runner_;
  Console& console_;
  std::string problem_;
  int64_t train_samples_ = 0;
};

}  // namespace

void require_memory_limit(const Plan& plan, const DeviceChoice& device, const std::string& option) {
  if (plan.job.memory_limit_bytes > 0 || device.is_cuda()) return;
  throw UsageError(option +
                   " on a CPU needs --memory-limit, such as --memory-limit 1GiB:\n"
                   "       without one it would fill this machine's memory");
}

RowBatch find_row_batch(const Plan& plan, const PlannedRow& row, const DeviceChoice& device,
                        int64_t samples, JobRunner& runner, Console& console) {
  return RowTrials(plan, row, device, runner, console).search(samples);
}

}  // namespace precbench
