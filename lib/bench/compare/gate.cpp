#include "bench/compare/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/compare/comparability.h"
#include "bench/report/block.h"
#include "bench/report/escape.h"
#include "bench/report/verdict.h"
#include "bench/result/marks.h"

namespace precbench {
namespace {

bool is_sampled(const MetricTraits& metric) {
  return metric.unit != MetricUnit::bytes && metric.unit != MetricUnit::fraction;
}

GateOutcome outcome_of(Verdict verdict) {
  if (verdict == Verdict::worse) return GateOutcome::failed;
  return verdict == Verdict::inconclusive ? GateOutcome::inconclusive : GateOutcome::passed;
}

// The rule that holds for a mode: the last one that names it, else the last general one.
const GateRule* rule_for(const std::vector<GateRule>& rules, const MetricTraits& metric,
                         const std::string& mode) {
  const GateRule* general = nullptr;
  const GateRule* own = nullptr;
  for (const GateRule& rule : rules) {
    if (rule.metric != &metric) continue;
    if (!rule.mode) general = &rule;
    if (rule.mode == mode) own = &rule;
  }
  return own != nullptr ? own : general;
}

GateVerdict judged(const GateRule& rule, const ModeRecord& base, const ModeRecord& current,
                   bool force, const DataSizes& sizes) {
  const MetricComparison result =
      compare_metric(base, current, *rule.metric, rule.limit, force, sizes);
  GateVerdict verdict{rule.text, base.mode, std::string(rule.metric->name),
                      outcome_of(result.verdict), result.why};
  if (!result.base && !result.current) verdict.outcome = GateOutcome::inconclusive;
  if (result.base) verdict.base = result.base->mean;
  if (result.current) verdict.current = result.current->mean;
  verdict.change = result.change;
  if (result.change) {
    const bool is_accuracy = rule.metric->unit == MetricUnit::fraction;
    verdict.why = (is_accuracy ? fmt::format("{:+.2f} pp", 100 * *result.change)
                               : fmt::format("{:+.1f} %", 100 * *result.change)) +
                  "; " + verdict.why;
  }
  return verdict;
}

void judge_mode(const ModeRecord& base, const ModeRecord& current,
                const std::vector<GateRule>& rules, bool force, const DataSizes& sizes,
                GateResult& result) {
  const auto about_mode = [&](GateOutcome outcome, const std::string& why) {
    result.verdicts.push_back({"status", base.mode, "status", outcome, why});
  };
  if (base.status != Status::ok) {
    return about_mode(GateOutcome::passed, current.status == Status::ok
                                               ? "now ok, not ok in the baseline"
                                               : "not ok in the baseline either");
  }
  if (current.status != Status::ok) {
    std::string why = "ok in the baseline, now " + std::string(words_for(current.status));
    if (current.reason) why += ": " + shortened(terminal_text(*current.reason), 100);
    return about_mode(GateOutcome::failed, why);
  }
  for (const MetricTraits& metric : kMetrics) {
    if (const GateRule* rule = rule_for(rules, metric, base.mode)) {
      result.verdicts.push_back(judged(*rule, base, current, force, sizes));
    }
  }
}

// A rule that names a mode must not pass because the mode is not there.
void judge_absent_modes(const ResultDocument& base, const ResultDocument& current,
                        const std::vector<GateRule>& rules, GateResult& result) {
  for (const GateRule& rule : rules) {
    if (!rule.mode) continue;
    const bool in_base = find_mode_record(base, *rule.mode) != nullptr;
    const bool in_current = find_mode_record(current, *rule.mode) != nullptr;
    if (in_base && in_current) continue;
    result.verdicts.push_back({rule.text, *rule.mode, std::string(rule.metric->name),
                               GateOutcome::inconclusive,
                               in_base ? "was not run now" : "is not in the baseline"});
  }
}

GateOutcome overall(const std::vector<GateVerdict>& verdicts) {
  const auto any = [&](GateOutcome outcome) {
    return std::any_of(verdicts.begin(), verdicts.end(),
                       [&](const GateVerdict& verdict) { return verdict.outcome == outcome; });
  };
  if (any(GateOutcome::failed)) return GateOutcome::failed;
  return any(GateOutcome::inconclusive) ? GateOutcome::inconclusive : GateOutcome::passed;
}

}  // namespace

std::string_view name_of(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::passed:
      return "passed";
    case GateOutcome::failed:
      return "failed";
    case GateOutcome::inconclusive:
      break;
  }
  return "inconclusive";
}

GateResult evaluate_gate(const ResultDocument& base, const ResultDocument& current,
                         const std::vector<GateRule>& rules, bool strict, bool force) {
  if (!force) require_same_protocol(base, current);
  ResultDocument marked_base = base, marked_current = current;
  assign_marks(marked_base);
  assign_marks(marked_current);
  clear_other_machine(marked_base);
  mark_other_machine(marked_base, marked_current);
  GateResult result;
  for (const GateRule& rule : rules) result.rules.push_back(rule.text);
  bool any_mode = false;
  for (const ModeRecord& mode : marked_base.modes) {
    const ModeRecord* other = find_mode_record(marked_current, mode.mode);
    if (other == nullptr) continue;
    any_mode = true;
    judge_mode(mode, *other, rules, force, data_sizes(current), result);
  }
  if (!any_mode) throw FileError("the baseline has no mode in common with this result");
  judge_absent_modes(marked_base, marked_current, rules, result);
  result.outcome = overall(result.verdicts);
  if (result.outcome == GateOutcome::failed) result.exit_code = ExitCode::gate_failed;
  if (result.outcome == GateOutcome::inconclusive && strict) {
    result.exit_code = ExitCode::inconclusive;
  }
  return result;
}

json to_json(const GateResult& gate) {
  json verdicts = json::array();
  for (const GateVerdict& verdict : gate.verdicts) {
    verdicts.push_back({{"rule", verdict.rule},
                        {"mode", verdict.mode},
                        {"metric", verdict.metric},
                        {"verdict", name_of(verdict.outcome)},
                        {"why", verdict.why},
                        {"base", nullable(verdict.base)},
                        {"new", nullable(verdict.current)},
                        {"change", nullable(verdict.change)}});
  }
  return {
      {"rules", gate.rules}, {"verdicts", std::move(verdicts)}, {"outcome", name_of(gate.outcome)}};
}

bool needs_repeats(const std::vector<GateRule>& rules) {
  return std::any_of(rules.begin(), rules.end(),
                     [](const GateRule& rule) { return is_sampled(*rule.metric); });
}

std::string single_run_advice(const ResultDocument& base, const std::vector<GateRule>& rules) {
  if (!needs_repeats(rules)) return "";
  std::string modes;
  for (const ModeRecord& mode : base.modes) {
    if (measured_runs(mode).size() != 1) continue;
    modes += (modes.empty() ? "" : ", ") + terminal_text(mode.mode);
  }
  if (modes.empty()) return "";
  double limit = kSingleRunTimeFactor - 1;
  for (const GateRule& rule : rules) {
    if (is_sampled(*rule.metric)) limit = std::max(limit, rule.limit);
  }
  return fmt::format(
      "the baseline has one run of {}: only a change of {:.0f} % or more could fail there; measure "
      "the baseline with --repeats {}",
      modes, 100 * limit, kGateRepeats);
}

}  // namespace precbench
