#include "bench/report/html/sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/report/gate_view.h"
#include "bench/report/heading.h"
#include "bench/report/html/chart_data.h"
#include "bench/report/html/elements.h"
#include "bench/result/measured.h"
#include "bench/text/escape.h"
#include "common/json_text.h"

namespace precbench::html {
namespace {

std::string word(const std::optional<std::string>& value) { return value.value_or("-"); }

std::string word(const std::optional<bool>& value) { return !value ? "-" : *value ? "yes" : "no"; }

std::string scalar(const json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  return shortened(json_text(value, -1), 400);
}

// Members that are objects themselves go one level down as "device.name".
void collect(const json& object, const std::string& prefix, int levels, std::string& rows) {
  const auto reasons = object.find("unknown");
  for (const auto& [key, value] : object.items()) {
    if (key == "unknown") continue;
    if (value.is_object() && levels > 0) {
      collect(value, prefix + key + ".", levels - 1, rows);
      continue;
    }
    std::string text = scalar(value);
    if (value.is_null() && reasons != object.end()) {
      if (const auto reason = text_at(*reasons, {key.c_str()})) {
        text = "unknown: " + shortened(*reason, 200);
      }
    }
    rows += body_row({prefix + key, text});
  }
}

std::string key_values(const char* title, const json& object, int levels) {
  std::string rows;
  if (object.is_object()) collect(object, "", levels, rows);
  if (rows.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n", title) +
         table_of("texts", {"member", "value"}, rows) + "</details>\n";
}

}  // namespace

std::string verdict_section(const ResultDocument& document, const Recommendation& recommendation) {
  std::string text;
  const auto& sentences = recommendation.sentences;
  text +=
      "<h1>" + html_text(sentences.empty() ? "No recommendation." : sentences.front()) + "</h1>\n";
  for (size_t i = 1; i < sentences.size(); ++i) text += paragraph(sentences[i]);
  if (!recommendation.code.empty()) {
    text += "<p>In your code: <code>" + html_text(recommendation.code) + "</code></p>\n";
  }
  if (!recommendation.closing.empty()) text += paragraph(recommendation.closing);
  text += paragraph(machine_line(document), "machine");
  if (const std::string workload = workload_line(document); !workload.empty()) {
    text += paragraph(workload, "machine");
  }
  return text;
}

std::string table_section(const Table& table, const std::string& best_mode) {
  if (table.rows.empty()) return "";
  std::string rows;
  for (const auto& cells : table.rows) {
    rows += body_row(cells, cells.front() == best_mode, table.header);
  }
  return "<h2>Comparison</h2>\n" + table_of("cards wide-last", table.header, rows) +
         list_of(table.footnotes);
}

std::string gate_section(const ResultDocument& document) {
  const auto gate = gate_view(document);
  if (!gate) return "";
  std::string rows;
  for (const Cells& cells : gate_cells(*gate)) rows += body_row(cells);
  return "<h2>Gate: " + html_text(gate->outcome) + "</h2>\n" +
         table_of("texts", gate_header(), rows);
}

std::string charts_section(const ResultDocument& document, bool has_chart_js) {
  const std::vector<Chart> charts = charts_of(document);
  if (charts.empty()) return "";
  std::string text = "<h2>Charts</h2>\n";
  if (!has_chart_js) {
    text += paragraph(
        "This precbench was built without Chart.js: here is what the charts would show.", "quiet");
  }
  text += "<div class=\"charts\">\n";
  for (const Chart& chart : charts) {
    const std::string words = html_text(chart.in_words);
    text += "<figure><figcaption>" + html_text(chart.title) + "</figcaption>";
    text += has_chart_js ? fmt::format(
                               "<div class=\"plot\"><canvas data-chart=\"{}\" role=\"img\" "
                               "aria-label=\"{}. {}\">{}</canvas></div>",
                               chart.id, html_text(chart.title), words, words)
                         : "<p>" + words + "</p>";
    text += "</figure>\n";
  }
  return text + "</div>\n";
}

std::string recipe_section(const ResultDocument& document) {
  const Cells header = {"mode",   "parameters",  "compute",   "gradients", "state", "autocast",
                        "scaler", "TF32 matmul", "TF32 conv", "optimizer", "layout"};
  std::string rows;
  for (const ModeRecord& mode : document.modes) {
    if (measured_runs(mode).empty()) continue;
    const RecipeRecord& recipe = mode.recipe;
    const Cells cells = {mode.mode,
                         word(recipe.param_dtype),
                         word(recipe.compute_dtype),
                         word(recipe.grad_dtype),
                         word(recipe.optimizer_state_dtype),
                         word(recipe.autocast),
                         word(recipe.grad_scaler),
                         word(recipe.tf32_matmul),
                         word(recipe.tf32_conv),
                         word(recipe.optimizer_impl),
                         word(recipe.memory_format)};
    // Of a published figure nobody observed anything.
    const bool is_known = std::any_of(cells.begin() + 1, cells.end(),
                                      [](const std::string& cell) { return cell != "-"; });
    if (is_known) rows += body_row(cells, false, header);
  }
  if (rows.empty()) return "";
  return "<h2>What each mode computed with</h2>\n" + table_of("cards recipe", header, rows) +
         paragraph("As observed in the first step.", "notes");
}

// "64 °C" of {min, mean, max}, or "-"
std::string mean_text(const json& energy, const char* key, const char* unit) {
  const auto spread = energy.find(key);
  if (spread == energy.end() || !spread->is_object()) return "-";
  const auto mean = spread->find("mean");
  if (mean == spread->end() || !mean->is_number()) return "-";
  return fmt::format("{:.0f} {}", mean->get<double>(), unit);
}

std::string number_text(const json& energy, const char* key, const char* unit) {
  const auto value = energy.find(key);
  if (value == energy.end() || !value->is_number()) return "-";
  return fmt::format("{:.0f} {}", value->get<double>(), unit);
}

std::string reasons_text(const json& energy) {
  const auto reasons = energy.find("clock_reasons");
  if (reasons == energy.end() || !reasons->is_object()) return "-";
  std::string text;
  for (const auto& [reason, share] : reasons->items()) {
    if (!share.is_number()) continue;
    text +=
        (text.empty() ? "" : ", ") + reason + fmt::format(" {:.0f} %", 100 * share.get<double>());
  }
  return text.empty() ? "none" : text;
}

std::string gpu_section(const ResultDocument& document) {
  const Cells header = {"mode",        "seed",     "energy",        "power",
                        "temperature", "SM clock", "clocks held by"};
  std::string rows;
  for (const ModeRecord& mode : document.modes) {
    for (const RunRecord* run : measured_runs(mode)) {
      const json& energy = run->energy;
      const Cells cells = {mode.mode,
                           std::to_string(run->seed),
                           number_text(energy, "energy_j", "J"),
                           number_text(energy, "mean_power_w", "W"),
                           mean_text(energy, "temperature_c", "°C"),
                           mean_text(energy, "sm_clock_mhz", "MHz"),
                           reasons_text(energy)};
      const bool is_known = std::any_of(cells.begin() + 2, cells.end(),
                                        [](const std::string& cell) { return cell != "-"; });
      if (is_known) rows += body_row(cells, false, header);
    }
  }
  if (rows.empty()) return "";
  return "<h2>The GPU meanwhile</h2>\n" + table_of("cards wide-last", header, rows);
}

std::string environment_section(const ResultDocument& document) {
  const std::string text = key_values("Protocol", document.protocol, 0) +
                           key_values("Environment", document.environment, 1) +
                           key_values("Tool", document.tool, 0) +
                           key_values("Invocation", document.invocation, 0);
  return text.empty() ? "" : "<h2>How it was measured</h2>\n" + text;
}

}  // namespace precbench::html
