// For people at a terminal: blocks, table and summary, in three combinations.
#include <algorithm>

#include "bench/report/block.h"
#include "bench/report/escape.h"
#include "bench/report/printers.h"
#include "bench/report/recommend.h"
#include "bench/report/table.h"

namespace precbench {
namespace {

// Characters, not bytes: every UTF-8 sequence has one byte that is no continuation. Wide characters
// do not occur in cells that the tool makes.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

std::string laid_out(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t column = 0; column < cells.size(); ++column) {
    line += cells[column];
    line.append(widths[column] - width_of(cells[column]) + 2, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string bold(const std::string& line, const RenderOptions& options) {
  if (!options.color) return line;
  const bool ends_line = !line.empty() && line.back() == '\n';
  return "\033[1m" + line.substr(0, line.size() - (ends_line ? 1 : 0)) + "\033[0m" +
         (ends_line ? "\n" : "");
}

std::string table_text(const Table& table, const RenderOptions& options) {
  std::vector<size_t> widths(table.header.size(), 0);
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));
  };
  widen(table.header);
  for (const auto& row : table.rows) widen(row);
  std::string text = bold(laid_out(table.header, widths), options);
  for (const auto& row : table.rows) text += laid_out(row, widths);
  for (const std::string& footnote : table.footnotes) text += footnote + "\n";
  return text;
}

std::string table_and_summary(const ResultDocument& document, RenderOptions options) {
  Table table = comparison_table(document);
  Recommendation recommendation = recommend(document);
  if (options.ascii) {
    // Before the layout: the replacements have other widths.
    for (auto& row : table.rows) {
      for (std::string& cell : row) cell = ascii_text(cell);
    }
    for (std::string& footnote : table.footnotes) footnote = ascii_text(footnote);
    for (std::string& sentence : recommendation.sentences) sentence = ascii_text(sentence);
  }
  std::string text = document.modes.empty() ? "" : table_text(table, options) + "\n";
  const std::vector<std::string> lines = summary_lines(recommendation);
  for (const std::string& line : lines) {
    text += (&line == &lines.front() ? bold(line, options) : line) + "\n";
  }
  return text;
}

std::string blocks(const ResultDocument& document, const RenderOptions& options) {
  const std::string text = render_blocks(document);
  return options.ascii ? ascii_text(text) : text;
}

class TextPrinter : public Printer {
 public:
  std::string render(const ResultDocument& document, const RenderOptions& options) const override {
    const std::string head = blocks(document, options);
    return head + (head.empty() ? "" : "\n") + table_and_summary(document, options);
  }
};

class ReportPrinter : public Printer {
 public:
  std::string render(const ResultDocument& document, const RenderOptions& options) const override {
    return blocks(document, options);
  }
};

class TablePrinter : public Printer {
 public:
  std::string render(const ResultDocument& document, const RenderOptions& options) const override {
    return table_and_summary(document, options);
  }
};

}  // namespace

std::unique_ptr<Printer> make_text_printer() { return std::make_unique<TextPrinter>(); }
std::unique_ptr<Printer> make_report_printer() { return std::make_unique<ReportPrinter>(); }
std::unique_ptr<Printer> make_table_printer() { return std::make_unique<TablePrinter>(); }

}  // namespace precbench
