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

// text | markdown | csv | json
std::string render_matrix(const std::vector<MatrixGroup>& groups,
                          const std::vector<const MetricTraits*>& metrics, std::string_view format,
                          const RenderOptions& options);

}  // namespace precbench
