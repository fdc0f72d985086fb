// `precbench matrix FILE...`: machines below each other, modes side by side, one table per metric.
#pragma once

#include <string>
#include <vector>

#include "bench/report/formats.h"
#include "bench/result/document.h"
#include "common/metrics.h"

namespace precbench {

struct MatrixEntry {
  std::string label;  // "Tesla T4"; with the file's name where a device stands there twice
  ResultDocument document;
};

// Results of one protocol. Results of other protocols are never in one table.
struct MatrixGroup {
  std::string workload;            // "cnn, fashion-mnist, batch 128, ..." or where it comes from
  std::vector<std::string> modes;  // of any entry, in the order of the mode table
  std::vector<MatrixEntry> entries;
};

// Groups in the order of their first file. `names` are the files' names, one per document; marks
// are assigned here.
std::vector<MatrixGroup> matrix_of(std::vector<ResultDocument> documents,
                                   const std::vector<std::string>& names);

struct MatrixTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

// A cell with " *" is the best of its row or cannot be told from it; rows in which that holds for
// every mode have no sign.
MatrixTable matrix_table(const MatrixGroup& group, const MetricTraits& metric);

// What the signs in cells say.
inline constexpr const char* kMatrixLegend =
    "* best of its row, or not to be told from it; e emulated; c at chance: it learned nothing; "
    "! not to be judged (the machine was busy, the card throttled, ...)";

// "Tesla T4: Use 16-mixed here: ..."
std::string matrix_advice(const MatrixEntry& entry);

struct MatrixFormat {
  const char* name;
  std::string (*render)(const std::vector<MatrixGroup>& groups,
                        const std::vector<const MetricTraits*>& metrics,
                        const RenderOptions& options);
  bool is_printed;   // --format NAME
  bool is_exported;  // --export-NAME FILE
};

std::vector<std::string> matrix_formats(bool MatrixFormat::*wanted);
// Throws UsageError for a name that no format has.
std::string render_matrix(const std::vector<MatrixGroup>& groups,
                          const std::vector<const MetricTraits*>& metrics, std::string_view format,
                          const RenderOptions& options);

}  // namespace precbench
