#include "bench/report/export.h"

#include "bench/report/printer.h"
#include "bench/result/atomic_file.h"

namespace precbench {

void export_result(const ResultDocument& document, const std::vector<ExportFile>& files) {
  for (const ExportFile& file : files) {
    write_atomically(file.path, render(file.format, document));
  }
}

}  // namespace precbench
