#include "bench/report/export.h"

#include "bench/report/html/page.h"
#include "bench/report/junit.h"
#include "bench/report/printer.h"
#include "bench/result/atomic_file.h"
#include "common/errors.h"

namespace precbench {
namespace {

// Files are for others to read: always UTF-8, never coloured.
std::string exported(const std::string& format, const ResultDocument& document) {
  if (format == "html") return html_of_result(document);
  if (format == "junit") return junit_of_result(document);
  if (format == "github") return render("markdown", document);
  return render(format, document);
}

}  // namespace

void refuse_two_results_on_stdout(const std::string& format, const std::vector<ExportFile>& files) {
  const ExportFile* here = nullptr;
  for (const ExportFile& file : files) {
    if (file.path != "-") continue;
    const std::string flag = "--export-" + file.format + " -";
    if (here != nullptr) {
      throw UsageError(flag + ": --export-" + here->format +
                       " goes to standard output already; name a file");
    }
    if (format != "none") {
      throw UsageError(flag + ": standard output has --format " + format +
                       " already\n       add --format none, or name a file");
    }
    here = &file;
  }
}

void export_result(const ResultDocument& document, const std::vector<ExportFile>& files) {
  for (const ExportFile& file : files) {
    write_atomically(file.path, exported(file.format, document));
  }
}

}  // namespace precbench
