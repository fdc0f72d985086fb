#include "bench/report/formats.h"

#include "bench/report/html/page.h"
#include "bench/report/junit.h"
#include "common/errors.h"
#include "common/suggest.h"

namespace precbench {
namespace {

std::vector<std::string> names_where(bool Format::*wanted) {
  std::vector<std::string> names;
  for (const Format& format : formats()) {
    if (format.*wanted) names.emplace_back(format.name);
  }
  return names;
}

// Of formats whose readers are programs, which know no locale and no terminal.
template <std::string (*kOf)(const ResultDocument&)>
std::string for_programs(const ResultDocument& document, const RenderOptions& /*options*/) {
  return kOf(document);
}

std::string nothing_of_result(const ResultDocument& /*document*/,
                              const RenderOptions& /*options*/) {
  return "";
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> table = {
      {"text", text_of_result, true, false},
      {"report", report_of_result, true, false},
      {"table", table_of_result, true, false},
      {"markdown", markdown_of_result, true, true},
      {"csv", csv_of_result, true, true},
      {"json", json_of_result, true, true},
      {"html", for_programs<html_of_result>, false, true},
      {"junit", for_programs<junit_of_result>, false, true},
      {"github", markdown_of_result, false, true},  // a job summary, the gate's verdicts first
      {"none", nothing_of_result, true, false},
  };
  return table;
}

std::vector<std::string> format_names() { return names_where(&Format::is_printed); }
std::vector<std::string> export_names() { return names_where(&Format::is_exported); }

std::string render(std::string_view format, const ResultDocument& document,
                   const RenderOptions& options) {
  for (const Format& row : formats()) {
    if (row.name == format) return row.render(document, options);
  }
  throw UsageError("unknown format '" + std::string(format) +
                   "'\nformats: " + joined(format_names()));
}

}  // namespace precbench
