#include "bench/judge/repeatability.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/stats/outliers.h"
#include "bench/text/units.h"

namespace precbench {
namespace {

bool is_ok_drift(const RunRecord& run) {
  return run.role == Role::drift && run.status == Status::ok;
}

std::string compared_traces(const Samples& first, const Samples& second, int64_t stride) {
  const size_t steps = std::min(first.size(), second.size());
  for (size_t i = 0; i < steps; ++i) {
    if (first[i] != second[i]) {
      return fmt::format("the same seed differs at step {}", static_cast<int64_t>(i) * stride);
    }
  }
  return fmt::format("repeatable: the same seed gives the same losses bitwise ({} steps)", steps);
}

bool has_trace(const RunRecord& run) { return run.status == Status::ok && !run.loss_trace.empty(); }

std::optional<std::string> drift_note(const ModeRecord& mode) {
  const auto ratio = drift_ratio(mode);
  if (!ratio) return std::nullopt;
  const double percent = 100 * (*ratio - 1);
  return fmt::format("run again at the end: {:.1f} % {} than at first", std::abs(percent),
                     percent < 0 ? "faster" : "slower");
}

std::vector<std::string> outlier_notes(const ModeRecord& mode) {
  std::vector<double> times;
  std::vector<const RunRecord*> runs;
  for (const RunRecord* run : measured_runs(mode)) {
    if (!run->time.total_s) continue;
    times.push_back(*run->time.total_s);
    runs.push_back(run);
  }
  std::vector<std::string> notes;
  for (const size_t index : outliers(times)) {
    notes.push_back(fmt::format(
        "outlier: seed {}, repeat {} took {} (median {}); close other programs or take more "
        "--repeats",
        runs[index]->seed, runs[index]->repeat + 1, duration_text(times[index]),
        duration_text(median_of(times))));
  }
  return notes;
}

}  // namespace

std::optional<double> drift_ratio(const ModeRecord& reference) {
  const auto drift = std::find_if(reference.runs.begin(), reference.runs.end(), is_ok_drift);
  if (drift == reference.runs.end()) return std::nullopt;
  const RunRecord* first = nullptr;
  for (const RunRecord* run : measured_runs(reference)) {
    if (run->seed != drift->seed) continue;
    if (first == nullptr || run->order_index < first->order_index) first = run;
  }
  if (first == nullptr) return std::nullopt;
  for (const char* name : {"step_time", "time"}) {
    const auto before = find_metric(name)->value(*first);
    const auto after = find_metric(name)->value(*drift);
    if (before && after && *before > 0) return *after / *before;
  }
  return std::nullopt;
}

std::optional<std::string> repeatability(const ModeRecord& mode) {
  for (size_t i = 0; i < mode.runs.size(); ++i) {
    const RunRecord& first = mode.runs[i];
    if (!has_trace(first)) continue;
    for (size_t j = i + 1; j < mode.runs.size(); ++j) {
      const RunRecord& second = mode.runs[j];
      if (!has_trace(second) || second.seed != first.seed) continue;
      if (second.loss_trace_stride != first.loss_trace_stride) continue;
      return compared_traces(first.loss_trace, second.loss_trace, first.loss_trace_stride);
    }
  }
  if (!mode.pilot || mode.pilot->loss_trace.empty()) return std::nullopt;
  for (const RunRecord& run : mode.runs) {
    if (!has_trace(run) || run.seed != mode.pilot->seed || run.loss_trace_stride != 1) continue;
    return compared_traces(mode.pilot->loss_trace, run.loss_trace, 1);
  }
  return std::nullopt;
}

std::vector<std::string> run_notes(const ModeRecord& mode) {
  std::vector<std::string> notes = outlier_notes(mode);
  if (const auto drift = drift_note(mode)) notes.push_back(*drift);
  if (const auto repeats = repeatability(mode)) notes.push_back(*repeats);
  return notes;
}

}  // namespace precbench
