#include "bench/report/layout.h"

#include <algorithm>

#include "bench/report/escape.h"

namespace precbench {
namespace {

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_text(cell) + " |";
  return line + "\n";
}

}  // namespace

size_t width_of(const std::string& text) {
  // Every UTF-8 sequence has one byte that is no continuation.
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

std::vector<std::string> laid_out(const std::vector<std::string>& header,
                                  const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> all = {header};
  all.insert(all.end(), rows.begin(), rows.end());
  std::vector<size_t> widths(header.size(), 0);
  for (const auto& cells : all) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));
  }
  std::vector<std::string> lines;
  for (const auto& cells : all) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      line += cells[i];
      line.append(widths[i] - width_of(cells[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line);
  }
  return lines;
}

std::string markdown_table(const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& rows) {
  std::string text = markdown_row(header) + "|";
  for (size_t i = 0; i < header.size(); ++i) {
    text += i == 0 || i + 1 == header.size() ? "---|" : "---:|";
  }
  text += "\n";
  for (const auto& row : rows) text += markdown_row(row);
  return text;
}

}  // namespace precbench
