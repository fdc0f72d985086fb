#include "bench/run/trial_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/plan/resolve_device.h"
#include "bench/plan/schedule.h"
#include "bench/run/pilot.h"
#include "bench/run/progress.h"
#include "common/errors.h"
#include "common/printable.h"
#include "common/suggest.h"

namespace precbench {
namespace {

std::string size_text(int64_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib >= 1024 ? fmt::format("{:.1f} GiB", mib / 1024) : fmt::format("{:.0f} MiB", mib);
}

// Nothing is left to run of it (--resume).
bool is_complete(const TrialParts& parts, const PlannedRow& row) {
  const std::vector<RunSlot> slots = parts.recording.left_to_run(parts.plan);
  return std::none_of(slots.begin(), slots.end(),
                      [&](const RunSlot& slot) { return slot.row == row; });
}

TrainJob job_of(const TrialParts& parts, const PlannedRow& row) {
  return job_for(parts.plan, row, parts.plan.seeds.front(), parts.device.is_cuda());
}

RunSize size_of(const TrialParts& parts, const TrainJob& train) {
  return run_size(train, parts.data.train_samples, parts.data.test_samples);
}

std::string trying_line(const TrialParts& parts) {
  const PlannedRow reference = reference_row(parts.plan);
  const int64_t steps =
      pilot_steps(parts.plan, reference, size_of(parts, job_of(parts, reference)));
  return fmt::format("trying {} steps of each mode", parts.plan.pilot_steps) +
         (steps > parts.plan.pilot_steps ? fmt::format(", {} of {}", steps, reference.name()) : "");
}

// `comes_first`: nothing was trained yet, so that nothing is lost by ending here. A file that one
// mode cannot read, the others of its engine cannot read either.
void try_row(const TrialParts& parts, const PlannedRow& planned, bool comes_first) {
  const Plan& plan = parts.plan;
  const std::string name = planned.name();
  const TrainJob train = job_of(parts, planned);
  Progress progress(parts.console, fmt::format("  {:<12}", name), train.batch_size, steady_seconds,
                    false);
  const int64_t steps = pilot_steps(plan, planned, size_of(parts, train));
  const JobOutcome outcome = parts.runner.run(
      job_on(parts.device, plan, pilot_job(train, steps)), {plan.timeout_s},
      [&](const Event& event) { progress.take(event); }, [&] { progress.tick(); });
  parts.console.clear_live();
  if (parts.troubles.take(outcome)) return;
  if (!outcome.result || !outcome.result->train) {
    if (comes_first && outcome.failure == FailureKind::input && plan.engines.size() == 1) {
      throw FileError(outcome.reason.value_or("the worker could not read a file"));
    }
    parts.recording.set_status(name, outcome.status == Status::ok ? Status::error : outcome.status,
                               outcome.reason.value_or("the worker sent no training result"));
    return;
  }
  if (parts.data.train_samples == 0) {
    parts.data.train_samples = outcome.result->train->train_samples;
    parts.data.test_samples = outcome.result->train->test_samples;
  }
  ModeRecord& row = parts.recording.mode(name);
  row.effective_mode = outcome.result->train->effective_mode;
  const RunRecord& pilot = outcome.result->train->run;
  row.pilot = projected(pilot, size_of(parts, train));
  if (planned == reference_row(plan) && repeats_the_run(train)) {
    row.pilot->seed = train.seed;
    row.pilot->loss_trace = pilot.loss_trace;
  }
  if (plan.budget_s && row.pilot->projected_s && *row.pilot->projected_s > *plan.budget_s) {
    parts.recording.set_status(
        name, Status::skipped,
        fmt::format("projected {}, over --budget {}", rough_duration(*row.pilot->projected_s),
                    rough_duration(*plan.budget_s)));
  }
}

std::string support_words(const Support& support) {
  std::string words(name_of(support.verdict));
  if (support.why.empty() || support.verdict == SupportLevel::unsupported) return words;
  return words + " (" + support.why + ")";
}

// Names of another engine's rows are longer.
size_t name_width(const Plan& plan) {
  size_t width = 13;
  for (const PlannedRow& row : rows_of(plan)) width = std::max(width, row.name().size());
  return width;
}

std::string pilot_line(const ModeRecord& row, size_t width) {
  std::string line = fmt::format("  {:<{}} {:<43}", row.mode, width, support_words(*row.support));
  if (row.pilot && row.pilot->projected_s)
    line += fmt::format(" about {:<8}", rough_duration(*row.pilot->projected_s));
  if (row.pilot && row.pilot->peak_allocated_bytes)
    line += "  " + size_text(*row.pilot->peak_allocated_bytes);
  if (row.status != Status::ok) {
    line += fmt::format("  {}: {}", name_of(row.status), row.reason.value_or(""));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

bool is_projected(const ModeRecord& row) { return row.pilot && row.pilot->projected_s; }

void warn_of_emulated_modes(const TrialParts& parts) {
  const ModeRecord& reference = parts.recording.mode(reference_row(parts.plan).name());
  for (const PlannedRow& planned : rows_of(parts.plan)) {
    const ModeRecord& row = parts.recording.mode(planned.name());
    if (row.status != Status::ok || row.support->verdict != SupportLevel::emulated) continue;
    const bool is_slower = is_projected(row) && is_projected(reference) &&
                           *row.pilot->projected_s > *reference.pilot->projected_s;
    parts.console.warning(fmt::format(
        "{} is emulated on {} ({}) and {}.\n         Skip such modes with --emulated skip.",
        row.mode, printable(parts.device.facts.name), row.support->why,
        is_slower ? "slower than " + reference.mode : "may be slow"));
  }
}

// From here on people go for a coffee, or would rather have a shorter answer.
constexpr double kLongS = 120.0;

// "3 runs, about 12m 40s in all; shorter: --config quick, or --budget 2m (leaves out 16-mixed)"
void tell_total(const TrialParts& parts) {
  std::vector<std::string> over_budget;
  for (const PlannedRow& planned : in_turn(parts.plan, rows_of(parts.plan))) {
    const ModeRecord& row = parts.recording.mode(planned.name());
    if (row.status != Status::ok) continue;
    if (is_projected(row) && *row.pilot->projected_s > kLongS) over_budget.push_back(row.mode);
  }
  const std::vector<RunSlot> slots = parts.recording.left_to_run(parts.plan);
  const auto total_s = parts.recording.expected_s(slots);
  if (slots.empty() || !total_s) return;
  std::string line = fmt::format("{} run{}, about {} in all", slots.size(),
                                 slots.size() == 1 ? "" : "s", rough_duration(*total_s));
  if (*total_s > kLongS && !parts.plan.budget_s) {
    const bool is_quick = parts.plan.config.value("/config/value"_json_pointer, json()) == "quick";
    line +=
        std::string("; shorter: ") + (is_quick ? "" : "--config quick, or ") + "--budget 2m (" +
        (over_budget.empty() ? "leaves out no mode" : "leaves out " + joined(over_budget, ", ")) +
        ")";
  }
  parts.console.info(line);
}

}  // namespace

void try_modes(const TrialParts& parts) {
  const bool tries = parts.plan.pilot_steps > 0;
  if (tries) parts.console.info(trying_line(parts));
  bool comes_first = !parts.recording.has_runs();
  for (const PlannedRow& planned : in_turn(parts.plan, rows_of(parts.plan))) {
    if (parts.troubles.interrupted(parts.runner)) return;
    const ModeRecord& row = parts.recording.mode(planned.name());
    if (tries && row.status == Status::ok && !is_complete(parts, planned)) {
      try_row(parts, planned, std::exchange(comes_first, false));
    }
    if (parts.troubles.interrupted(parts.runner)) return;
    parts.console.info(pilot_line(row, name_width(parts.plan)));
  }
  if (tries) tell_total(parts);
  warn_of_emulated_modes(parts);
}

}  // namespace precbench
