#include "bench/run/pilot.h"

#include <algorithm>
#include <vector>

#include "bench/plan/schedule.h"
#include "bench/result/measured.h"

namespace precbench {
namespace {

int64_t divided_up(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// Median of the steps after the first; of the first where it is the only one.
std::optional<double> steady_step_s(const Samples& samples_ms) {
  std::vector<double> steps;
  for (const auto& sample : samples_ms) {
    if (sample) steps.push_back(*sample / 1000.0);
  }
  if (steps.size() > 1) steps.erase(steps.begin());
  if (steps.empty()) return std::nullopt;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

}  // namespace

RunSize run_size(const TrainJob& job, int64_t train_samples, int64_t test_samples) {
  const auto batches_of = [&](int64_t samples) {  // on each device
    return divided_up(divided_up(samples, job.devices), job.batch_size);
  };
  const int64_t batches = batches_of(train_samples);
  const int64_t per_epoch = std::max<int64_t>(1, divided_up(batches, job.optimizer.accumulate));
  RunSize size;
  size.train_steps = job.steps > 0 ? job.steps : per_epoch * job.epochs;
  const int64_t epochs = divided_up(size.train_steps, per_epoch);
  const int64_t evaluations = job.eval_every > 0 ? divided_up(epochs, job.eval_every) : 1;
  size.eval_batches = evaluations * batches_of(test_samples);
  return size;
}

int64_t pilot_steps(const Plan& plan, const PlannedRow& row, const RunSize& size) {
  const bool runs_once = plan.repeats == 1 && plan.seeds.size() == 1;
  const bool is_default =
      plan.config.value("pilot", json::object()).value("source", "") == "default";
  if (row != reference_row(plan) || !runs_once || !is_default) return plan.pilot_steps;
  return std::max(plan.pilot_steps, std::min(kRepeatedSteps, size.train_steps));
}

bool repeats_the_run(const TrainJob& job) {
  return job.schedule.name == "constant" && job.schedule.warmup_steps == 0 &&
         job.inject_inf_at_step < 0;
}

TrainJob pilot_job(TrainJob job, int64_t steps) {
  job.pilot = true;
  job.steps = steps;
  job.save_weights.clear();
  job.dump_trace.clear();
  job.inject_inf_at_step = -1;
  return job;
}

std::optional<double> expected_s(const ModeRecord& mode) {
  if (const auto seen = metric_estimate(mode, *find_metric("time"))) return seen->mean;
  return mode.pilot ? mode.pilot->projected_s : std::nullopt;
}

PilotRecord projected(const RunRecord& pilot, const RunSize& size) {
  PilotRecord record;
  record.steps = static_cast<int64_t>(pilot.time.step_ms.samples.size());
  record.peak_allocated_bytes = pilot.memory.peak_allocated_bytes;
  if (!record.peak_allocated_bytes)
    record.unknown["peak_allocated_bytes"] = "the pilot measured no memory";
  const auto step_s = steady_step_s(pilot.time.step_ms.samples);
  if (!step_s) {
    record.unknown["projected_s"] = "the pilot finished no step";
    return record;
  }
  const double first_s = pilot.time.first_step_s.value_or(*step_s);
  const double eval_batch_s =
      pilot.time.eval_s.value_or(*step_s / 3.0);  // forward is about a third of a step
  record.projected_s = first_s + *step_s * static_cast<double>(size.train_steps - 1) +
                       eval_batch_s * static_cast<double>(size.eval_batches);
  return record;
}

}  // namespace precbench
