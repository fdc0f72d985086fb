// Ready to paste into an issue, a pull request or a job summary.
#include "bench/judge/recommend.h"
#include "bench/report/formats.h"
#include "bench/report/gate_view.h"
#include "bench/report/heading.h"
#include "bench/report/table.h"
#include "bench/text/escape.h"
#include "bench/text/layout.h"

namespace precbench {

std::string markdown_of_result(const ResultDocument& document, const RenderOptions& options) {
  const Table table = comparison_table(document);
  const Recommendation recommendation = recommend(document);
  std::string text = "**" + markdown_text(machine_line(document)) + "**\n";
  if (const std::string workload = workload_line(document); !workload.empty()) {
    text += "\n" + markdown_text(workload) + "\n";
  }
  if (const auto gate = gate_view(document)) {
    text += "\n**gate: " + markdown_text(gate->outcome) + "**\n\n" +
            markdown_table(gate_header(), gate_cells(*gate));
  }
  if (!table.rows.empty()) {
    text += "\n" + markdown_table(table.header, table.rows);
  }
  if (!table.footnotes.empty()) text += "\n";
  for (const std::string& footnote : table.footnotes) {
    text += "- " + markdown_text(footnote) + "\n";
  }
  text += "\n";
  for (const std::string& sentence : recommendation.sentences) {
    text += markdown_text(sentence) + "\n";
  }
  if (!recommendation.code.empty())
    text += "\nIn your code: " + markdown_code(recommendation.code) + "\n";
  if (!recommendation.closing.empty()) text += "\n" + recommendation.closing + "\n";
  return options.ascii ? ascii_text(text) : text;
}

}  // namespace precbench
