// The gate of a result file as rows of text, from the JSON that it carries: files come from
// anywhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/document.h"

namespace precbench {

struct GateView {
  struct Row {
    std::string mode, rule, outcome, why;  // not escaped
  };
  std::string outcome;
  std::vector<Row> rows;
};

// Nothing for a document without a gate.
std::optional<GateView> gate_view(const ResultDocument& document);

// Columns of the cells that every format shows, and the cells in that order.
const std::vector<std::string>& gate_header();
std::vector<std::vector<std::string>> gate_cells(const GateView& view);

}  // namespace precbench
