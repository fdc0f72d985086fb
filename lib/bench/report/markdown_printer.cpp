// Ready to paste into an issue, a pull request or a job summary.
#include "bench/report/escape.h"
#include "bench/report/heading.h"
#include "bench/report/printers.h"
#include "bench/report/recommend.h"
#include "bench/report/table.h"

namespace precbench {
namespace {

std::string row_text(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_text(cell) + " |";
  return line + "\n";
}

std::string ruler(size_t columns) {
  std::string line = "|";
  // Texts at both ends, figures between them.
  for (size_t i = 0; i < columns; ++i) line += i == 0 || i + 1 == columns ? "---|" : "---:|";
  return line + "\n";
}

class MarkdownPrinter : public Printer {
 public:
  std::string render(const ResultDocument& document, const RenderOptions& options) const override {
    const Table table = comparison_table(document);
    const Recommendation recommendation = recommend(document);
    std::string text = "**" + markdown_text(machine_line(document)) + "**\n";
    if (const std::string workload = workload_line(document); !workload.empty()) {
      text += "\n" + markdown_text(workload) + "\n";
    }
    if (!table.rows.empty()) {
      text += "\n" + row_text(table.header) + ruler(table.header.size());
      for (const auto& row : table.rows) text += row_text(row);
    }
    if (!table.footnotes.empty()) text += "\n";
    for (const std::string& footnote : table.footnotes) {
      text += "- " + markdown_text(footnote) + "\n";
    }
    text += "\n";
    for (const std::string& sentence : recommendation.sentences) {
      text += markdown_text(sentence) + "\n";
    }
    if (!recommendation.code.empty()) text += "\nIn your code: `" + recommendation.code + "`\n";
    if (!recommendation.closing.empty()) text += "\n" + recommendation.closing + "\n";
    return options.ascii ? ascii_text(text) : text;
  }
};

}  // namespace

std::unique_ptr<Printer> make_markdown_printer() { return std::make_unique<MarkdownPrinter>(); }

}  // namespace precbench
