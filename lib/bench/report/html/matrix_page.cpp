#include "bench/report/html/matrix_page.h"

#include "bench/report/html/elements.h"
#include "bench/report/html/skeleton.h"
#include "bench/text/escape.h"

namespace precbench {

std::string html_of_matrix(const std::vector<MatrixGroup>& groups,
                           const std::vector<const MetricTraits*>& metrics) {
  std::string page = html::head("precbench: machines side by side");
  page += "<h1>Machines side by side</h1>\n";
  for (const MatrixGroup& group : groups) {
    page += "<section>\n<h2>" + html_text(group.workload) + "</h2>\n";
    for (const MetricTraits* metric : metrics) {
      const MatrixTable table = matrix_table(group, *metric);
      std::string rows;
      for (const auto& row : table.rows) rows += html::body_row(row, false, table.header);
      page += "<h3>" + html_text(std::string(metric->title)) + "</h3>\n" +
              html::table_of("figures", table.header, rows);
    }
    std::vector<std::string> advice;
    for (const MatrixEntry& entry : group.entries) advice.push_back(matrix_advice(entry));
    page += html::list_of(advice) + "</section>\n";
  }
  return page + html::paragraph(kMatrixLegend) + "</main>\n</body>\n</html>\n";
}

}  // namespace precbench
