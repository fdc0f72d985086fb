#include <fmt/format.h>

#include "bench/judge/recommend.h"
#include "bench/report/html/matrix_page.h"
#include "bench/report/matrix.h"
#include "bench/result/measured.h"
#include "bench/text/escape.h"
#include "bench/text/layout.h"
#include "common/errors.h"
#include "common/json_text.h"

namespace precbench {
namespace {

using Metrics = std::vector<const MetricTraits*>;

std::string as_text(const std::vector<MatrixGroup>& groups, const Metrics& metrics,
                    const RenderOptions& options) {
  std::string text;
  for (const MatrixGroup& group : groups) {
    text += (text.empty() ? "" : "\n") + wrapped(group.workload, options.columns, 2) + "\n";
    for (const MetricTraits* metric : metrics) {
      text += "\n" + std::string(metric->title) + "\n";
      const MatrixTable table = matrix_table(group, *metric);
      for (const std::string& line : laid_out(table.header, table.rows, options.columns))
        text += line + "\n";
    }
    text += "\n";
    for (const MatrixEntry& entry : group.entries)
      text += wrapped(matrix_advice(entry), options.columns, 2) + "\n";
  }
  if (text.empty()) return text;
  text += "\n" + wrapped(kMatrixLegend, options.columns, 0) + "\n";
  return options.ascii ? ascii_text(text) : text;
}

std::string as_markdown(const std::vector<MatrixGroup>& groups, const Metrics& metrics,
                        const RenderOptions& /*options*/) {
  std::string text;
  for (const MatrixGroup& group : groups) {
    text += (text.empty() ? "" : "\n") + ("## " + markdown_text(group.workload)) + "\n";
    for (const MetricTraits* metric : metrics) {
      const MatrixTable table = matrix_table(group, *metric);
      text +=
          "\n**" + std::string(metric->title) + "**\n\n" + markdown_table(table.header, table.rows);
    }
    text += "\n";
    for (const MatrixEntry& entry : group.entries) {
      text += "- " + markdown_text(matrix_advice(entry)) + "\n";
    }
  }
  return text.empty() ? "" : text + "\n" + markdown_text(kMatrixLegend) + "\n";
}

// One line per machine, mode and metric: the form that a spreadsheet pivots.
std::string as_csv(const std::vector<MatrixGroup>& groups, const Metrics& metrics,
                   const RenderOptions& /*options*/) {
  std::string text = "workload,machine,mode,metric,mean,std,n,status,marks\n";
  for (const MatrixGroup& group : groups) {
    for (const MatrixEntry& entry : group.entries) {
      for (const ModeRecord& mode : entry.document.modes) {
        for (const MetricTraits* metric : metrics) {
          const auto value = metric_estimate(mode, *metric);
          text += csv_text(group.workload) + "," + csv_text(entry.label) + "," +
                  csv_text(mode.mode) + "," + std::string(metric->name) + "," +
                  (value ? fmt::format("{}", value->mean) : "") + "," +
                  (value && value->std ? fmt::format("{}", *value->std) : "") + "," +
                  (value ? std::to_string(value->n) : "0") + "," +
                  std::string(name_of(mode.status)) + "," + csv_text(mark_ids(mode)) + "\n";
        }
      }
    }
  }
  return text;
}

std::string as_json(const std::vector<MatrixGroup>& groups, const Metrics& metrics,
                    const RenderOptions& /*options*/) {
  json document = json::array();
  for (const MatrixGroup& group : groups) {
    json entries = json::array();
    for (const MatrixEntry& entry : group.entries) {
      json modes = json::object();
      for (const ModeRecord& mode : entry.document.modes) {
        json& figures = modes[mode.mode];
        figures["status"] = name_of(mode.status);
        figures["marks"] = json::array();
        for (const Mark& mark : mode.marks) figures["marks"].push_back(mark.id);
        for (const MetricTraits* metric : metrics) {
          const auto value = metric_estimate(mode, *metric);
          figures[std::string(metric->name)] = value ? json(value->mean) : json(nullptr);
        }
      }
      entries.push_back({{"machine", entry.label},
                         {"recommended", recommend(entry.document).mode},
                         {"modes", std::move(modes)}});
    }
    document.push_back({{"workload", group.workload}, {"machines", std::move(entries)}});
  }
  return json_text(document) + "\n";
}

std::string as_html(const std::vector<MatrixGroup>& groups, const Metrics& metrics,
                    const RenderOptions& /*options*/) {
  return html_of_matrix(groups, metrics);
}

std::string nothing(const std::vector<MatrixGroup>& /*groups*/, const Metrics& /*metrics*/,
                    const RenderOptions& /*options*/) {
  return "";
}

constexpr MatrixFormat kFormats[] = {
    {"text", as_text, true, false}, {"markdown", as_markdown, true, true},
    {"csv", as_csv, true, true},    {"json", as_json, true, true},
    {"html", as_html, false, true}, {"none", nothing, true, false},
};

}  // namespace

std::string matrix_advice(const MatrixEntry& entry) {
  std::string text = entry.label + ":";
  for (const std::string& sentence : recommend(entry.document).sentences) text += " " + sentence;
  return text;
}

std::vector<std::string> matrix_formats(bool MatrixFormat::*wanted) {
  std::vector<std::string> names;
  for (const MatrixFormat& format : kFormats) {
    if (format.*wanted) names.emplace_back(format.name);
  }
  return names;
}

std::string render_matrix(const std::vector<MatrixGroup>& groups, const Metrics& metrics,
                          std::string_view format, const RenderOptions& options) {
  for (const MatrixFormat& row : kFormats) {
    if (format == row.name) return row.render(groups, metrics, options);
  }
  throw UsageError("unknown format '" + std::string(format) + "'");
}

}  // namespace precbench
