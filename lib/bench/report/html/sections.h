// The parts of the HTML report's page. Every text from the document is escaped here.
#pragma once

#include <string>

#include "bench/judge/recommend.h"
#include "bench/report/table.h"
#include "bench/result/document.h"

namespace precbench::html {

std::string verdict_section(const ResultDocument& document, const Recommendation& recommendation);
std::string table_section(const Table& table, const std::string& best_mode);
std::string gate_section(const ResultDocument& document);  // empty without a gate
std::string charts_section(const ResultDocument& document, bool has_chart_js);
std::string recipe_section(const ResultDocument& document);
// Vanished gradients, stalled weights, FP8 scales; empty where no run tells of its numbers.
std::string numbers_section(const ResultDocument& document);
// What NVML saw of the GPU in each run; empty where nothing was seen.
std::string gpu_section(const ResultDocument& document);
std::string environment_section(const ResultDocument& document);  // and protocol, as key and value

}  // namespace precbench::html
