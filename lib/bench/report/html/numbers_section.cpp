// Whether each mode's numbers held up (lib/train/measure/numeric_health.h), and its FP8 tensors.
#include <fmt/format.h>

#include "bench/report/html/elements.h"
#include "bench/report/html/sections.h"
#include "bench/result/measured.h"
#include "bench/result/numeric_notes.h"

namespace precbench::html {
namespace {

std::string figure(const json& object, const char* key, const char* pattern, double factor = 1) {
  const auto value = object.find(key);
  if (value == object.end() || !value->is_number()) return "-";
  return fmt::format(fmt::runtime(pattern), factor * value->get<double>());
}

std::string percent(const json& object, const char* key) {
  return figure(object, key, "{:.3g} %", 100);
}

std::string range(const json& object, const char* low, const char* high) {
  const std::string first = figure(object, low, "{:.3g}");
  const std::string last = figure(object, high, "{:.3g}");
  return first == last ? first : first + " to " + last;
}

std::string divergence(const ModeRecord& mode, const ModeRecord* reference) {
  if (reference == nullptr || &mode == reference) return "-";
  const json found = loss_divergence_json(mode, *reference);
  return found.is_null() ? "-" : percent(found, "largest");
}

std::string float8_table(const ResultDocument& document) {
  const Cells header = {"mode",    "tensors",        "scale", "largest magnitude",
                        "clipped", "flushed to zero"};
  std::string rows;
  for (const ModeRecord& mode : document.modes) {
    const auto runs = measured_runs(mode);
    if (runs.empty() || !runs.front()->numerics.contains("fp8")) continue;
    const json& kinds = runs.front()->numerics.at("fp8");
    if (!kinds.is_object()) continue;
    for (const auto& [kind, told] : kinds.items()) {
      if (!told.is_object()) continue;
      rows += body_row({mode.mode, kind + "s", range(told, "smallest_scale", "largest_scale"),
                        range(told, "smallest_amax", "largest_amax"),
                        percent(told, "clipped_share"), percent(told, "flushed_share")},
                       false, header);
    }
  }
  if (rows.empty()) return "";
  return "<h3>FP8</h3>\n" + table_of("cards", header, rows);
}

}  // namespace

std::string numbers_section(const ResultDocument& document) {
  const Cells header = {"mode",
                        "non-finite steps",
                        "gradients zero",
                        "subnormal",
                        "weights stalled",
                        "update / weight",
                        "loss vs reference"};
  const ModeRecord* reference = reference_mode(document);
  std::string rows;
  for (const ModeRecord& mode : document.modes) {
    const auto runs = measured_runs(mode);
    if (runs.empty() || runs.front()->numerics.empty()) continue;
    const json& told = runs.front()->numerics;
    rows +=
        body_row({mode.mode, figure(told, "non_finite_steps", "{:.0f}"),
                  percent(told, "zero_gradient_share"), percent(told, "subnormal_gradient_share"),
                  percent(told, "unmoved_weight_share"),
                  figure(told, "update_to_weight_ratio", "{:.2g}"), divergence(mode, reference)},
                 false, header);
  }
  if (rows.empty()) return "";
  return "<h2>Whether the numbers hold up</h2>\n" + table_of("cards", header, rows) +
         paragraph(
             "Medians over the steps that were looked at, of each mode's first run. Stalled: "
             "the gradient is not zero, and the weight did not move. Loss vs reference: the "
             "largest "
             "difference of losses averaged over 20 steps.",
             "notes") +
         float8_table(document);
}

}  // namespace precbench::html
