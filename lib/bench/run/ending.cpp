#include "bench/run/ending.h"

#include "bench/report/export.h"
#include "bench/report/formats.h"
#include "bench/report/github.h"
#include "common/errors.h"

namespace precbench {

bool prints_blocks(const OutputPlan& output) {
  return output.format == "text" || output.format == "report";
}

void print_ending(const OutputPlan& output, const ResultDocument& document, Console& console) {
  if (output.format == "report") return;
  const RenderOptions options = stdout_options(output.color);
  if (output.format != "text") {
    console.result(render(output.format, document, options));
    return;
  }
  console.result("\n" + render("table", document, options));
}

bool write_exports(const OutputPlan& output, const ResultDocument& document, Console& console) {
  bool all_written = true;
  for (const ExportFile& file : output.exports) {
    try {
      export_result(document, {file});
    } catch (const FileError& error) {
      console.error(error.what());
      all_written = false;
    }
  }
  return all_written;
}

bool tell_github(const ResultDocument& document, Console& console) {
  if (in_github_actions()) {
    for (const std::string& line : result_annotations(document)) console.info(line);
  }
  try {
    append_job_summary(render("markdown", document));
  } catch (const FileError& error) {
    console.error(error.what());
    return false;
  }
  return true;
}

}  // namespace precbench
