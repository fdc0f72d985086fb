#include "bench/report/comparison_text.h"

#include <fmt/format.h>

#include "bench/text/escape.h"
#include "bench/text/figures.h"
#include "bench/text/layout.h"
#include "bench/text/units.h"
#include "common/suggest.h"

namespace precbench {
namespace {

using Rows = std::vector<std::vector<std::string>>;

const std::vector<std::string> kComparisonHeader = {"mode",   "metric",  "base", "new",
                                                    "change", "verdict", "why"};
const std::vector<std::string> kGateHeader = {"mode", "rule", "outcome", "why"};

std::string change(const MetricComparison& metric) {
  if (!metric.change) return "-";
  return metric.metric->unit == MetricUnit::fraction
             ? points_text(*metric.change)
             : fmt::format("{:+.1f} %", 100 * *metric.change);
}

Rows comparison_rows(const Comparison& comparison) {
  Rows rows;
  for (const ModeComparison& mode : comparison.modes) {
    const std::string name = terminal_text(mode.mode);
    if (!mode.status_change.empty()) {
      rows.push_back({name, "status", std::string(name_of(mode.base_status)),
                      std::string(name_of(mode.current_status)), "-",
                      std::string(name_of(mode.status_verdict)), mode.status_change});
    }
    for (const MetricComparison& metric : mode.metrics) {
      if (!metric.base && !metric.current) continue;
      rows.push_back({name, std::string(metric.metric->name),
                      figure_text(metric.base, *metric.metric),
                      figure_text(metric.current, *metric.metric), change(metric),
                      std::string(name_of(metric.verdict)), metric.why});
    }
  }
  return rows;
}

std::string absent_text(const Comparison& comparison) {
  std::string text;
  if (!comparison.only_in_base.empty()) {
    text += "only in base: " + terminal_text(joined(comparison.only_in_base, ", ")) + "\n";
  }
  if (!comparison.only_in_current.empty()) {
    text += "only in new: " + terminal_text(joined(comparison.only_in_current, ", ")) + "\n";
  }
  return text;
}

Rows gate_rows(const GateResult& gate) {
  Rows rows;
  for (const GateVerdict& verdict : gate.verdicts) {
    rows.push_back({terminal_text(verdict.mode), verdict.rule,
                    std::string(name_of(verdict.outcome)), verdict.why});
  }
  return rows;
}

std::string table(const std::vector<std::string>& header, Rows rows, const RenderOptions& options) {
  if (options.ascii) {
    for (auto& row : rows) {
      for (std::string& cell : row) cell = ascii_text(cell);
    }
  }
  std::string text;
  for (const std::string& line : laid_out(header, rows, options.columns)) text += line + "\n";
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const RenderOptions& options) {
  return table(kComparisonHeader, comparison_rows(comparison), options) +
         wrapped(absent_text(comparison), options.columns, 2);
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = markdown_table(kComparisonHeader, comparison_rows(comparison));
  if (const std::string absent = absent_text(comparison); !absent.empty()) {
    text += "\n" + markdown_text(absent) + "\n";
  }
  return text;
}

std::string gate_text(const GateResult& gate, const RenderOptions& options) {
  return fmt::format("gate: {}\n", name_of(gate.outcome)) +
         (gate.verdicts.empty() ? "" : table(kGateHeader, gate_rows(gate), options));
}

std::string gate_markdown(const GateResult& gate) {
  return fmt::format("**gate: {}**\n", name_of(gate.outcome)) +
         (gate.verdicts.empty() ? "" : "\n" + markdown_table(kGateHeader, gate_rows(gate)));
}

}  // namespace precbench
