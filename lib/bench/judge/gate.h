// `--fail-on RULE`: a comparison that decides. Used by `compare` and by `run --baseline`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/judge/comparison.h"
#include "common/errors.h"

namespace precbench {

// "time:5%", "test_accuracy:0.5pp", "time[16-mixed]:10%"
struct GateRule {
  std::string text;
  const MetricTraits* metric = nullptr;
  std::optional<std::string>
      mode;          // canonical name; nothing = every mode without a rule of its own
  double limit = 0;  // fraction
};

// Throws UsageError (exit code 2) saying what is wrong and showing the forms.
GateRule parse_gate_rule(const std::string& text);
std::vector<GateRule> parse_gate_rules(const std::vector<std::string>& texts);

enum class GateOutcome { passed, failed, inconclusive };

std::string_view name_of(GateOutcome outcome);

struct GateVerdict {
  std::string rule;  // as written; "status" for a mode's outcome
  std::string mode;
  std::string metric;  // "status" likewise
  GateOutcome outcome = GateOutcome::inconclusive;
  std::string why;
  std::optional<double> base = std::nullopt, current = std::nullopt, change = std::nullopt;
};

struct GateResult {
  std::vector<std::string> rules;
  std::vector<GateVerdict> verdicts;
  GateOutcome outcome = GateOutcome::passed;
  ExitCode exit_code = ExitCode::ok;  // 1 failed; 6 inconclusive and strict; else 0
};

// A pure function of its arguments. Fails only on an established regression, or when a mode that
// was ok in `base` is not ok in `current`, or learned there and learns nothing any more. A mode
// that is gone makes it inconclusive. Throws FileError when the protocols differ (unless
// forced) or no mode is in both.
GateResult evaluate_gate(const ResultDocument& base, const ResultDocument& current,
                         const std::vector<GateRule>& rules, bool strict, bool force = false);

// The result file's `gate`.
json to_json(const GateResult& gate);

// With a time rule, `run --baseline` repeats each mode this often unless told otherwise: at 3 %
// noise five runs a side find a slowdown of 10 % in 98 % of the cases (docs/statistics.md).
inline constexpr int64_t kGateRepeats = 5;
bool needs_repeats(const std::vector<GateRule>& rules);

// What to tell before a run against a baseline of single runs; empty when there is nothing to say.
std::string single_run_advice(const ResultDocument& base, const std::vector<GateRule>& rules);

}  // namespace precbench
