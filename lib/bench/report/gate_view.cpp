#include "bench/report/gate_view.h"

#include "bench/result/measured.h"

namespace precbench {

std::optional<GateView> gate_view(const ResultDocument& document) {
  if (!document.gate.is_object()) return std::nullopt;
  GateView view;
  view.outcome = text_at(document.gate, {"outcome"}).value_or("unknown");
  const auto verdicts = document.gate.find("verdicts");
  if (verdicts == document.gate.end() || !verdicts->is_array()) return view;
  for (const json& verdict : *verdicts) {
    const auto text = [&](const char* key) { return text_at(verdict, {key}).value_or("-"); };
    view.rows.push_back({text("mode"), text("rule"), text("verdict"), text("why")});
  }
  return view;
}

const std::vector<std::string>& gate_header() {
  static const std::vector<std::string> header = {"mode", "rule", "outcome", "why"};
  return header;
}

std::vector<std::vector<std::string>> gate_cells(const GateView& view) {
  std::vector<std::vector<std::string>> cells;
  for (const GateView::Row& row : view.rows) {
    cells.push_back({row.mode, row.rule, row.outcome, row.why});
  }
  return cells;
}

}  // namespace precbench
