// Writing a result into files, one per format asked for with --export-*.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/plan/plan.h"
#include "bench/result/document.h"

namespace precbench {

// The formats of --export-FORMAT, in the order of the help. github is the Markdown of a job
// summary, with the gate's verdicts first.
inline constexpr std::string_view kExportFormats[] = {"json", "csv",   "markdown",
                                                      "html", "junit", "github"};

// "-" is standard output, for one result: throws UsageError where --format or another export wants
// it as well.
void refuse_two_results_on_stdout(const std::string& format, const std::vector<ExportFile>& files);

// Files are complete or not there. Throws FileError naming the path.
void export_result(const ResultDocument& document, const std::vector<ExportFile>& files);

}  // namespace precbench
