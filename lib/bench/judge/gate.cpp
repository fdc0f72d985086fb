#include "bench/judge/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/judge/comparability.h"
#include "bench/text/escape.h"
#include "bench/text/words.h"

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

GateVerdict verdict_of(const GateRule& rule, const std::string& mode,
                       const MetricComparison& result) {
  GateVerdict verdict{rule.text, mode, std::string(rule.metric->name), outcome_of(result.verdict),
                      result.why};
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

// What the status of a mode decides by itself; nothing where the rules do.
std::optional<GateVerdict> status_verdict(const ModeRecord& base, const ModeRecord& current,
                                          const DataSizes& sizes) {
  const auto about_mode = [&](GateOutcome outcome, const std::string& why) {
    return GateVerdict{"status", base.mode, "status", outcome, why};
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
  if (lost_learning(base, current, sizes)) {
    return about_mode(GateOutcome::failed, "learned in the baseline, now at chance");
  }
  return std::nullopt;
}

// Mode by mode for the reader; judged metric by metric, since all modes of one are judged at once.
void judge_modes(const MarkedPair& sides, const std::vector<GateRule>& rules, GateResult& result) {
  std::map<std::string, std::vector<GateVerdict>> verdicts;
  std::vector<const ModeRecord*> judged;
  for (const ModeRecord& mode : sides.base.modes) {
    const ModeRecord* other = find_mode_record(sides.current, mode.mode);
    if (other == nullptr) continue;
    if (const auto verdict = status_verdict(mode, *other, sides.options.sizes)) {
      verdicts[mode.mode].push_back(*verdict);
      if (mode.status != Status::ok || other->status != Status::ok) continue;
    }
    judged.push_back(&mode);
  }
  for (const MetricTraits& metric : kMetrics) {
    std::vector<const GateRule*> ruling;
    std::vector<ModePair> pairs;
    for (const ModeRecord* mode : judged) {
      const GateRule* rule = rule_for(rules, metric, mode->mode);
      if (rule == nullptr) continue;
      ruling.push_back(rule);
      pairs.push_back({mode, find_mode_record(sides.current, mode->mode), rule->limit});
    }
    const std::vector<MetricComparison> compared = judge(pairs, metric, sides.options);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const std::string& mode = pairs[i].base->mode;
      verdicts[mode].push_back(verdict_of(*ruling[i], mode, compared[i]));
    }
  }
  for (const ModeRecord& mode : sides.base.modes) {
    const std::vector<GateVerdict>& own = verdicts[mode.mode];
    result.verdicts.insert(result.verdicts.end(), own.begin(), own.end());
  }
}

// Nothing passes because it is not there: a mode of the baseline that was not run now, whatever the
// rules, and one that a rule names.
void judge_absent_modes(const MarkedPair& sides, const std::vector<GateRule>& rules,
                        GateResult& result) {
  const auto add = [&](const std::string& rule, const std::string& mode, const char* why) {
    result.verdicts.push_back({rule, mode, "status", GateOutcome::inconclusive, why});
  };
  for (const ModeRecord& mode : sides.base.modes) {
    if (find_mode_record(sides.current, mode.mode) == nullptr) {
      add("status", mode.mode, "is in the baseline and was not run now");
    }
  }
  for (const GateRule& rule : rules) {
    if (rule.mode && find_mode_record(sides.base, *rule.mode) == nullptr) {
      add(rule.text, *rule.mode, "is not in the baseline");
    }
  }
}

bool any_in_common(const MarkedPair& sides) {
  return std::any_of(sides.base.modes.begin(), sides.base.modes.end(), [&](const ModeRecord& mode) {
    return find_mode_record(sides.current, mode.mode) != nullptr;
  });
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
  const MarkedPair sides = marked_pair(base, current, force);
  GateResult result;
  for (const GateRule& rule : rules) result.rules.push_back(rule.text);
  judge_modes(sides, rules, result);
  if (!any_in_common(sides)) {
    throw FileError("the baseline has no mode in common with this result");
  }
  judge_absent_modes(sides, rules, result);
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
  double limit = 0;
  for (const GateRule& rule : rules) {
    if (is_sampled(*rule.metric)) {
      limit = std::max(limit, single_run_bound(*rule.metric, rule.limit));
    }
  }
  return fmt::format(
      "the baseline has one run of {}: only a change of {:.0f} % or more could fail there; measure "
      "the baseline with --repeats {}",
      modes, 100 * limit, kGateRepeats);
}

}  // namespace precbench
