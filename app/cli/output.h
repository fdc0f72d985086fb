// What the reading subcommands (report, compare, matrix) share: standard output and --export-*.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "bench/plan/plan.h"
#include "bench/report/printer.h"

namespace precbench::cli {

// Writes all of it, or throws FileError: a full disk must not look like success.
void write_stdout(const std::string& text);

// ASCII outside UTF-8 locales; colours on a terminal unless NO_COLOR is set, or as --color says
// (auto | always | never).
RenderOptions stdout_options(const std::string& color = "auto");

// One --export-FORMAT flag for each of kExportFormats.
class ExportFlags {
 public:
  void add_to(CLI::App& command);
  std::vector<ExportFile> files() const;

 private:
  std::map<std::string, std::string> paths_;
};

}  // namespace precbench::cli
