// What the reading subcommands (report, compare, matrix) share: standard output and --export-*.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "bench/files/standard_streams.h"
#include "bench/plan/plan.h"
#include "bench/report/export.h"
#include "bench/report/formats.h"
#include "bench/run/console.h"

namespace precbench::cli {

// A folder stands for the result files in it. Throws FileError for one that has none.
std::vector<std::string> result_files(const std::vector<std::string>& named);

// One --export-FORMAT flag for each of the formats.
class ExportFlags {
 public:
  void add_to(CLI::App& command, const std::vector<std::string>& formats = export_names());
  // Those asked for. Throws UsageError where two results would go to standard output, which gets
  // `printed` (none: nothing).
  std::vector<ExportFile> files(const std::string& printed) const;
  bool has(const std::string& format) const;

 private:
  std::map<std::string, std::string> paths_;
};

}  // namespace precbench::cli
