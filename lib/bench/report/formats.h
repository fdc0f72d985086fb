// A result document in one of the output formats: a function of its own and a row in the table that
// --format, --export-* and their help read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/result/document.h"
#include "bench/text/render_options.h"

namespace precbench {

std::string text_of_result(const ResultDocument&, const RenderOptions&);      // blocks and table
std::string report_of_result(const ResultDocument&, const RenderOptions&);    // blocks alone
std::string table_of_result(const ResultDocument&, const RenderOptions&);     // with the summary
std::string markdown_of_result(const ResultDocument&, const RenderOptions&);  // for an issue
std::string csv_of_result(const ResultDocument&, const RenderOptions&);       // a line per mode
std::string json_of_result(const ResultDocument&, const RenderOptions&);      // the result file

struct Format {
  std::string_view name;
  std::string (*render)(const ResultDocument& document, const RenderOptions& options);
  bool is_printed;   // --format NAME
  bool is_exported;  // --export-NAME FILE
};

const std::vector<Format>& formats();

// In the order of the help.
std::vector<std::string> format_names();  // of --format
std::vector<std::string> export_names();  // of --export-*

// The text is complete and ends with a line end, or is empty. Throws UsageError naming the formats.
std::string render(std::string_view format, const ResultDocument& document,
                   const RenderOptions& options = {});

}  // namespace precbench
