#include "bench/report/export.h"

#include "bench/files/atomic_file.h"
#include "bench/report/formats.h"
#include "common/errors.h"

namespace precbench {
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
    // Files are for others to read: always UTF-8, never coloured.
    write_atomically(file.path, render(file.format, document));
  }
}

}  // namespace precbench
