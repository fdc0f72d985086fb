#include "bench/report/export.h"

#include "bench/report/html/page.h"
#include "bench/report/junit.h"
#include "bench/report/printer.h"
#include "bench/result/atomic_file.h"

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

void export_result(const ResultDocument& document, const std::vector<ExportFile>& files) {
  for (const ExportFile& file : files) {
    write_atomically(file.path, exported(file.format, document));
  }
}

}  // namespace precbench
