// One line per mode with a header line, units in the names, empty fields for unknown figures.
#include <fmt/format.h>

#include <functional>

#include "bench/judge/judge.h"
#include "bench/judge/standing.h"
#include "bench/report/formats.h"
#include "bench/report/heading.h"
#include "bench/text/escape.h"

namespace precbench {
namespace {

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string mean_of(const ModeRecord& mode, std::string_view metric) {
  const auto value = metric_estimate(mode, *find_metric(metric));
  return value ? number(value->mean) : "";
}

std::string std_of(const ModeRecord& mode, std::string_view metric) {
  const auto value = metric_estimate(mode, *find_metric(metric));
  return value ? number(value->std) : "";
}

struct Row {
  const ResultDocument& document;
  const ModeRecord& mode;
  const ModeRecord* reference;

  bool has_reference() const { return reference != nullptr && reference != &mode; }
};

std::string accuracy_difference(const Row& row) {
  if (!row.has_reference()) return "";
  return number(judge({row.reference, &row.mode, 0}, *find_metric("test_accuracy")).change);
}

std::string ratio(const Row& row, const MetricTraits& metric) {
  if (!row.has_reference()) return "";
  const auto value = metric_estimate(row.mode, metric);
  const auto base = metric_estimate(*row.reference, metric);
  const auto found = value && base ? ratio_of(*value, *base) : std::nullopt;
  return found ? number(found->ratio) : "";
}

std::string time_ratio(const Row& row) {
  const std::string steps = ratio(row, speed_metric(row.document));
  return steps.empty() ? ratio(row, *find_metric("time")) : steps;
}

std::string memory_ratio(const Row& row) { return ratio(row, *find_metric("memory")); }

// Mean over the runs that know it.
std::string energy(const Row& row) {
  double sum = 0;
  int count = 0;
  for (const RunRecord* run : measured_runs(row.mode)) {
    const auto joules = run->energy.find("energy_j");
    if (joules == run->energy.end() || !joules->is_number()) continue;
    sum += joules->get<double>();
    ++count;
  }
  return count > 0 ? number(sum / count) : "";
}

struct Column {
  const char* name;
  std::string (*text)(const Row& row);
};

constexpr Column kColumns[] = {
    {"mode", [](const Row& row) { return csv_text(row.mode.mode); }},
    {"effective_mode", [](const Row& row) { return csv_text(row.mode.effective_mode); }},
    {"status", [](const Row& row) { return std::string(name_of(row.mode.status)); }},
    {"reason", [](const Row& row) { return csv_text(row.mode.reason.value_or("")); }},
    {"support",
     [](const Row& row) {
       return std::string(row.mode.support ? name_of(row.mode.support->verdict) : "");
     }},
    {"runs", [](const Row& row) { return std::to_string(measured_runs(row.mode).size()); }},
    {"test_accuracy", [](const Row& row) { return mean_of(row.mode, "test_accuracy"); }},
    {"test_accuracy_std", [](const Row& row) { return std_of(row.mode, "test_accuracy"); }},
    {"test_accuracy_difference", accuracy_difference},
    {"train_accuracy", [](const Row& row) { return mean_of(row.mode, "train_accuracy"); }},
    {"time_s", [](const Row& row) { return mean_of(row.mode, "time"); }},
    {"time_std_s", [](const Row& row) { return std_of(row.mode, "time"); }},
    {"step_ms", [](const Row& row) { return mean_of(row.mode, "step_time"); }},
    {"time_ratio", time_ratio},
    {"samples_per_s", [](const Row& row) { return mean_of(row.mode, "throughput"); }},
    {"peak_allocated_bytes", [](const Row& row) { return mean_of(row.mode, "memory"); }},
    {"memory_ratio", memory_ratio},
    {"energy_j", energy},
    {"reference",
     [](const Row& row) { return row.reference ? csv_text(row.reference->mode) : ""; }},
    {"marks", [](const Row& row) { return csv_text(mark_ids(row.mode)); }},
    {"device", [](const Row& row) { return csv_text(device_name(row.document)); }},
    {"libtorch",
     [](const Row& row) {
       return csv_text(text_at(row.document.tool, {"libtorch"}).value_or(""));
     }},
    {"protocol_hash",
     [](const Row& row) {
       return csv_text(text_at(row.document.protocol, {"hash"}).value_or(""));
     }},
};

}  // namespace

std::string csv_of_result(const ResultDocument& document, const RenderOptions& /*options*/) {
  std::string text;
  for (const Column& column : kColumns)
    text += (text.empty() ? "" : ",") + std::string(column.name);
  text += "\n";
  const ModeRecord* reference = reference_mode(document);
  for (const ModeRecord& mode : document.modes) {
    std::string line;
    for (const Column& column : kColumns) {
      if (&column != &kColumns[0]) line += ",";
      line += column.text({document, mode, reference});
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace precbench
