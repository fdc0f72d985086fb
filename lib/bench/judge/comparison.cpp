#include "bench/judge/comparison.h"

#include "bench/judge/comparability.h"
#include "bench/judge/marks.h"
#include "bench/text/escape.h"
#include "bench/text/words.h"
#include "common/errors.h"
#include "common/suggest.h"

namespace precbench {
namespace {

std::string status_text(const ModeRecord& mode) {
  std::string text(words_for(mode.status));
  if (mode.reason) text += ": " + shortened(terminal_text(*mode.reason), 100);
  return text;
}

ModeComparison compare_status(const ModeRecord& base, const ModeRecord& current,
                              const DataSizes& sizes) {
  ModeComparison result;
  result.mode = base.mode;
  result.base_status = base.status;
  result.current_status = current.status;
  if (base.status == Status::ok && current.status != Status::ok) {
    result.status_change = "ok before, now " + status_text(current);
    result.status_verdict = Verdict::worse;
  } else if (base.status != Status::ok && current.status == Status::ok) {
    result.status_change = "now ok, before " + status_text(base);
    result.status_verdict = Verdict::better;
  } else if (base.status != Status::ok) {
    result.status_change = "not ok on either side: " + status_text(current);
  } else if (lost_learning(base, current, sizes)) {
    result.status_change = "learned before, now at chance";
    result.status_verdict = Verdict::worse;
  }
  return result;
}

// Metric by metric, since all modes are judged at once.
void compare_metrics(const MarkedPair& sides, Comparison& comparison) {
  std::vector<ModeComparison*> rows;
  std::vector<ModePair> pairs;
  for (ModeComparison& mode : comparison.modes) {
    if (mode.base_status != Status::ok || mode.current_status != Status::ok) continue;
    rows.push_back(&mode);
    pairs.push_back(
        {find_mode_record(sides.base, mode.mode), find_mode_record(sides.current, mode.mode), 0});
  }
  for (const MetricTraits& metric : kMetrics) {
    for (ModePair& pair : pairs) pair.limit = default_limit(metric);
    std::vector<MetricComparison> judged = judge(pairs, metric, sides.options);
    for (size_t i = 0; i < rows.size(); ++i) rows[i]->metrics.push_back(std::move(judged[i]));
  }
}

std::vector<std::string> warnings_for(const ResultDocument& base, const ResultDocument& current,
                                      const ComparisonOptions& options) {
  std::vector<std::string> warnings;
  if (const auto fields = protocol_differences(base, current); !fields.empty()) {
    warnings.push_back("the protocols differ in " + joined(fields, ", ") +
                       ": differences may come from that");
  }
  if (const auto machine = machine_differences(base, current); !machine.empty()) {
    warnings.push_back("measured on another machine: " + joined(machine, ", ") +
                       (options.force ? "" : "; times and memory are not judged without --force"));
  }
  if (const auto software = software_differences(base, current); !software.empty()) {
    warnings.push_back("other software: " + joined(software, ", "));
  }
  return warnings;
}

json estimate_json(const std::optional<Estimate>& value) {
  if (!value) return nullptr;
  return {{"mean", value->mean}, {"std", nullable(value->std)}, {"n", value->n}};
}

json metric_json(const MetricComparison& metric) {
  return {{"metric", metric.metric->name},
          {"base", estimate_json(metric.base)},
          {"new", estimate_json(metric.current)},
          {"change", nullable(metric.change)},
          {"low", metric.interval ? json(metric.interval->low) : json(nullptr)},
          {"high", metric.interval ? json(metric.interval->high) : json(nullptr)},
          {"verdict", name_of(metric.verdict)},
          {"why", metric.why}};
}

}  // namespace

MarkedPair marked_pair(ResultDocument base, ResultDocument current, bool force) {
  if (!force) require_same_protocol(base, current);
  assign_marks(base);
  assign_marks(current);
  clear_other_machine(base);
  mark_other_machine(base, current);
  const JudgeOptions options{!force, are_interleaved(base, current), data_sizes(current)};
  return {std::move(base), std::move(current), options};
}

Comparison compare_results(ResultDocument earlier, ResultDocument later,
                           const ComparisonOptions& options) {
  const MarkedPair sides = marked_pair(std::move(earlier), std::move(later), options.force);
  const ResultDocument &base = sides.base, &current = sides.current;
  Comparison comparison;
  comparison.warnings = warnings_for(base, current, options);
  for (const ModeRecord& mode : base.modes) {
    const ModeRecord* other = find_mode_record(current, mode.mode);
    if (other == nullptr) {
      comparison.only_in_base.push_back(mode.mode);
    } else {
      comparison.modes.push_back(compare_status(mode, *other, sides.options.sizes));
    }
  }
  for (const ModeRecord& mode : current.modes) {
    if (find_mode_record(base, mode.mode) == nullptr) {
      comparison.only_in_current.push_back(mode.mode);
    }
  }
  if (comparison.modes.empty()) {
    throw FileError("the two results have no mode in common: nothing to compare");
  }
  compare_metrics(sides, comparison);
  return comparison;
}

json to_json(const Comparison& comparison) {
  json modes = json::array();
  for (const ModeComparison& mode : comparison.modes) {
    json metrics = json::array();
    for (const MetricComparison& metric : mode.metrics) metrics.push_back(metric_json(metric));
    modes.push_back({{"mode", mode.mode},
                     {"base_status", name_of(mode.base_status)},
                     {"new_status", name_of(mode.current_status)},
                     {"status_verdict", name_of(mode.status_verdict)},
                     {"status_change", mode.status_change},
                     {"metrics", std::move(metrics)}});
  }
  return {{"modes", std::move(modes)},
          {"only_in_base", comparison.only_in_base},
          {"only_in_new", comparison.only_in_current},
          {"warnings", comparison.warnings}};
}

}  // namespace precbench
