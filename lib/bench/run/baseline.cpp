#include "bench/run/baseline.h"

#include <fmt/format.h>
#include <unistd.h>

#include "bench/files/standard_streams.h"
#include "bench/judge/comparability.h"
#include "bench/judge/comparison.h"
#include "bench/report/comparison_text.h"
#include "bench/report/formats.h"
#include "bench/report/github.h"

namespace precbench {

Baseline::Baseline(Plan& plan, Console& console) : strict_(plan.gate.strict) {
  rules_ = parse_gate_rules(plan.gate.fail_on);
  if (plan.gate.baseline.empty()) return;
  base_ = load_result(plan.gate.baseline);
  const bool repeats_given = plan.config.at("repeats").at("source") != "default";
  if (needs_repeats(rules_) && !repeats_given) {
    plan.repeats = kGateRepeats;
    const bool order_given = plan.config.at("order").at("source") != "default";
    if (!order_given) plan.order = Order::rotate;
    console.info(fmt::format(
        "each mode runs {} times: a time rule needs repeats to decide (--repeats 1 for one)",
        kGateRepeats));
  }
  const std::string advice = single_run_advice(*base_, rules_);
  if (!advice.empty()) console.warning(advice);
}

void Baseline::require_protocol(const ResultDocument& current) const {
  if (base_) require_same_protocol(*base_, current);
}

std::optional<ExitCode> Baseline::judge(ResultDocument& current, Console& console) const {
  if (!base_) return std::nullopt;
  mark_other_machine(*base_, current);
  const Comparison comparison = compare_results(*base_, current);
  for (const std::string& warning : comparison.warnings) console.warning(warning);
  RenderOptions options;
  options.ascii = !locale_is_utf8();
  options.columns = columns_for(STDERR_FILENO);
  console.rendered("\n" + comparison_text(comparison, options) + "\n");
  if (rules_.empty()) return std::nullopt;
  const GateResult gate = evaluate_gate(*base_, current, rules_, strict_);
  current.gate = to_json(gate);
  if (in_github_actions()) {
    for (const std::string& line : gate_annotations(gate)) console.info(line);
  }
  if (gate.outcome == GateOutcome::inconclusive && !strict_) {
    console.warning("the gate is inconclusive; it fails on that with --strict-gate");
  }
  return gate.exit_code;
}

}  // namespace precbench
