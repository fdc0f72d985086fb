// For people at a terminal: blocks, table and summary, in three combinations.
#include "bench/judge/recommend.h"
#include "bench/report/block.h"
#include "bench/report/formats.h"
#include "bench/report/gate_view.h"
#include "bench/report/table.h"
#include "bench/text/escape.h"
#include "bench/text/layout.h"

namespace precbench {
namespace {

constexpr size_t kFootnoteIndent = 2;  // of its further lines on a narrow terminal

std::string bold(const std::string& line, const RenderOptions& options) {
  return options.color ? "\033[1m" + line + "\033[0m" : line;
}

std::string table_text(const Table& table, const RenderOptions& options) {
  std::string text;
  for (const std::string& line : laid_out(table.header, table.rows, options.columns)) {
    text += (text.empty() ? bold(line, options) : line) + "\n";
  }
  for (const std::string& footnote : table.footnotes) {
    text += wrapped(footnote, options.columns, kFootnoteIndent) + "\n";
  }
  return text;
}

std::string gate_text(const ResultDocument& document, const RenderOptions& options) {
  const auto gate = gate_view(document);
  if (!gate) return "";
  auto cells = gate_cells(*gate);
  for (auto& row : cells) {
    for (std::string& cell : row) {
      cell = shortened(options.ascii ? ascii_text(terminal_text(cell)) : terminal_text(cell));
    }
  }
  std::string text = "\n" + bold("gate: " + terminal_text(gate->outcome), options) + "\n";
  for (const std::string& line : laid_out(gate_header(), cells, options.columns))
    text += line + "\n";
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
    const std::string shown = wrapped(line, options.columns, 0);
    text += (&line == &lines.front() ? bold(shown, options) : shown) + "\n";
  }
  return text + gate_text(document, options);
}

std::string blocks(const ResultDocument& document, const RenderOptions& options) {
  const std::string text = render_blocks(document);
  return options.ascii ? ascii_text(text) : text;
}

}  // namespace

std::string text_of_result(const ResultDocument& document, const RenderOptions& options) {
  const std::string head = blocks(document, options);
  return head + (head.empty() ? "" : "\n") + table_of_result(document, options);
}

std::string report_of_result(const ResultDocument& document, const RenderOptions& options) {
  return blocks(document, options);
}

std::string table_of_result(const ResultDocument& document, const RenderOptions& options) {
  return table_and_summary(document, options);
}

}  // namespace precbench
