// The grammar of --fail-on: METRIC[MODE]:LIMIT with a unit, % for ratios and pp for accuracies.
#include <charconv>
#include <cmath>

#include "bench/judge/gate.h"
#include "common/engines.h"
#include "common/modes.h"
#include "common/suggest.h"

namespace precbench {
namespace {

constexpr const char* kForms =
    "\nforms: time:5%  memory:2%  test_accuracy:0.5pp  time[16-mixed]:10%";

[[noreturn]] void fail(const std::string& rule, const std::string& what) {
  throw UsageError("--fail-on " + rule + ": " + what + kForms);
}

const MetricTraits* metric_of(const std::string& rule, const std::string& name) {
  if (const MetricTraits* metric = find_metric(name)) return metric;
  std::vector<std::string> names;
  for (const MetricTraits& metric : kMetrics) names.emplace_back(metric.name);
  const auto guess = nearest(name, names);
  fail(rule, "unknown metric '" + name + "'" + (guess ? "; did you mean '" + *guess + "'?" : "") +
                 "\n       metrics: " + joined(names));
}

std::string mode_of(const std::string& rule, const std::string& name) {
  const std::string engine = engine_of_row(name);
  if (const ModeTraits* mode = find_mode(mode_of_row(name))) return row_name(mode->name, engine);
  const auto guess = nearest(name, mode_names());
  fail(rule, "unknown mode '" + name + "'" + (guess ? "; did you mean '" + *guess + "'?" : ""));
}

double limit_of(const std::string& rule, std::string text, const MetricTraits& metric) {
  const bool is_accuracy = metric.unit == MetricUnit::fraction;
  const std::string unit = is_accuracy ? "pp" : "%";
  const std::string name(metric.name);
  if (text.size() <= unit.size() || !text.ends_with(unit)) {
    fail(rule, is_accuracy ? name + " takes points, as in " + name + ":0.5pp"
                           : name + " takes a percentage, as in " + name + ":5%");
  }
  text.erase(text.size() - unit.size());
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    fail(rule, "'" + text + "' is not a number");
  }
  if (value < 0 || value > 1000) fail(rule, "the limit must be between 0 and 1000");
  if (!is_accuracy && metric.better == BetterWhen::higher && value >= 100) {
    fail(rule, name + " cannot fall by 100 %: the limit must be under that");
  }
  return value / 100;
}

}  // namespace

GateRule parse_gate_rule(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) fail(text, "has no limit");
  GateRule rule;
  rule.text = text;
  std::string name = text.substr(0, colon);
  if (const size_t bracket = name.find('['); bracket != std::string::npos) {
    if (!name.ends_with("]")) fail(text, "the mode's bracket is not closed");
    rule.mode = mode_of(text, name.substr(bracket + 1, name.size() - bracket - 2));
    name.erase(bracket);
  }
  rule.metric = metric_of(text, name);
  rule.limit = limit_of(text, text.substr(colon + 1), *rule.metric);
  return rule;
}

std::vector<GateRule> parse_gate_rules(const std::vector<std::string>& texts) {
  std::vector<GateRule> rules;
  rules.reserve(texts.size());
  for (const std::string& text : texts) rules.push_back(parse_gate_rule(text));
  return rules;
}

}  // namespace precbench
