#include "bench/text/layout.h"

#include <algorithm>

#include "bench/text/escape.h"
#include "common/utf8.h"

namespace precbench {
namespace {

using Cells = std::vector<std::string>;

constexpr size_t kGap = 2;  // between columns

// A cell is not wrapped into fewer columns than this: a word a line is harder to read than a line
// that the terminal breaks.
constexpr size_t kNarrowestCell = 12;

std::string markdown_row(const Cells& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_cell(cell) + " |";
  return line + "\n";
}

// Bytes of the longest start that fits, at least one character.
size_t bytes_that_fit(std::string_view text, size_t columns) {
  size_t bytes = 0, taken = 0;
  while (bytes < text.size()) {
    const size_t length = first_character(text.substr(bytes)).length;
    taken += columns_of(text.substr(bytes, length));
    if (taken > columns && bytes > 0) break;
    bytes += length;
  }
  return bytes;
}

// One line as several.
std::vector<std::string> wrapped_line(std::string_view text, size_t columns, size_t indent) {
  std::vector<std::string> lines;
  for (size_t end = 0; (end = bytes_that_fit(text, columns)) < text.size();) {
    const size_t first_word = text.find_first_not_of(' ');
    const size_t blank = text.find_last_of(' ', end);  // the one that ends the line may not fit
    const bool has_break = blank != std::string_view::npos && blank > first_word;
    size_t next = end;
    if (has_break) {
      end = text.find_last_not_of(' ', blank) + 1;
      next = text.find_first_not_of(' ', blank);
    }
    lines.emplace_back(text.substr(0, end));
    text = next == std::string_view::npos ? "" : text.substr(next);
    if (lines.size() == 1) columns -= std::min(indent, columns - 1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  for (size_t i = 1; i < lines.size(); ++i) lines[i].insert(0, indent, ' ');
  return lines;
}

// Some columns of a table, by their places.
class Section {
 public:
  Section(const std::vector<Cells>& all, const std::vector<size_t>& widths)
      : all_(all), widths_(widths) {}

  size_t width_with(const std::vector<size_t>& more) const {
    size_t width = 0;
    for (const auto* places : {&places_, &more}) {
      for (const size_t i : *places) width += widths_[i] + (width > 0 ? kGap : 0);
    }
    return width;
  }
  void add(const std::vector<size_t>& more) {
    places_.insert(places_.end(), more.begin(), more.end());
  }
  void begin() { places_ = {0}; }
  size_t size() const { return places_.size(); }

  void print(size_t columns, std::vector<std::string>& lines) const {
    std::vector<size_t> widths;
    for (const size_t i : places_) widths.push_back(widths_[i]);
    const size_t before = width_with({}) - widths.back();
    if (columns >= before + kNarrowestCell)
      widths.back() = std::min(widths.back(), columns - before);
    for (const Cells& cells : all_) print_row(cells, widths, lines);
  }

 private:
  void print_row(const Cells& cells, const std::vector<size_t>& widths,
                 std::vector<std::string>& lines) const {
    std::vector<std::vector<std::string>> parts;
    size_t height = 0;
    for (size_t i = 0; i < places_.size(); ++i) {
      parts.push_back(wrapped_line(cells[places_[i]], widths[i], 0));
      height = std::max(height, parts.back().size());
    }
    for (size_t row = 0; row < height; ++row) {
      std::string line;
      for (size_t i = 0; i < parts.size(); ++i) {
        const std::string part = row < parts[i].size() ? parts[i][row] : "";
        line += part;
        line.append(widths[i] - std::min(widths[i], columns_of(part)) + kGap, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      lines.push_back(line);
    }
  }

  const std::vector<Cells>& all_;
  const std::vector<size_t>& widths_;
  std::vector<size_t> places_;
};

bool belongs_to_the_left(const std::string& header) { return header.starts_with("vs "); }

}  // namespace

std::vector<std::string> laid_out(const Cells& header, const std::vector<Cells>& rows,
                                  size_t columns) {
  std::vector<Cells> all = {header};
  all.insert(all.end(), rows.begin(), rows.end());
  std::vector<size_t> widths(header.size(), 0);
  for (const Cells& cells : all) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns_of(cells[i]));
  }
  if (columns > 0) {
    for (size_t& width : widths) width = std::min(width, std::max(columns / 2, kNarrowestCell));
  }
  std::vector<std::string> lines;
  Section section(all, widths);
  if (!header.empty()) section.begin();
  for (size_t i = 1; i < header.size();) {
    std::vector<size_t> group = {i++};
    while (i < header.size() && belongs_to_the_left(header[i])) group.push_back(i++);
    const bool is_last = i == header.size();
    // The last column, of texts, may as well be wrapped where it is.
    const size_t spared = is_last ? widths[i - 1] - std::min(widths[i - 1], kNarrowestCell) : 0;
    const size_t width = section.width_with(group) - spared;
    if (columns > 0 && width > columns && section.size() > 1) {
      section.print(columns, lines);
      lines.emplace_back();
      section.begin();
    }
    if (columns > 0 && group.size() > 1 && section.width_with(group) > columns) {
      i = group.front() + 1;  // not even alone
      group.resize(1);
    }
    section.add(group);
  }
  if (section.size() > 0) section.print(columns, lines);
  return lines;
}

std::string wrapped(std::string_view text, size_t columns, size_t indent) {
  if (columns == 0) return std::string(text);
  std::string result;
  while (true) {
    const size_t end = text.find('\n');
    for (const std::string& line : wrapped_line(text.substr(0, end), columns, indent)) {
      result += (result.empty() ? "" : "\n") + line;
    }
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
    if (text.empty()) return result + "\n";
  }
}

std::string cut_to(std::string_view text, size_t columns) {
  return std::string(text.substr(0, bytes_that_fit(text, columns)));
}

std::string markdown_table(const Cells& header, const std::vector<Cells>& rows) {
  std::string text = markdown_row(header) + "|";
  for (size_t i = 0; i < header.size(); ++i) {
    text += i == 0 || i + 1 == header.size() ? "---|" : "---:|";
  }
  text += "\n";
  for (const Cells& row : rows) text += markdown_row(row);
  return text;
}

}  // namespace precbench
