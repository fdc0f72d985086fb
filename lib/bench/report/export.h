// Writing a result into files, one per format asked for with --export-*.
#pragma once

#include <string>
#include <vector>

#include "bench/result/document.h"

namespace precbench {

struct ExportFile {
  std::string format;  // of export_names()
  std::string path;
};

// "-" is standard output, for one result: throws UsageError where --format or another export wants
// it as well.
void refuse_two_results_on_stdout(const std::string& format, const std::vector<ExportFile>& files);

// Files are complete or not there. Throws FileError naming the path.
void export_result(const ResultDocument& document, const std::vector<ExportFile>& files);

}  // namespace precbench
