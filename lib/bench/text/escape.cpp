#include "bench/text/escape.h"

#include <algorithm>
#include <utility>

#include "common/utf8.h"

namespace precbench {
namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// Of a text without control characters: Unicode's White_Space, and what shows nothing.
bool is_blank(char32_t code) {
  return code == ' ' || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200D) ||
         code == 0x202F || code == 0x205F || code == 0x2060 || code == 0x3000 || code == 0xFEFF ||
         code == 0xAD || code == 0x180E;
}

// = + - @, their full-width and small forms, and the minus sign.
bool begins_formula(char32_t code) {
  constexpr std::u32string_view kBegin =
      U"=+-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B\u2212";
  return kBegin.find(code) != std::u32string_view::npos;
}

bool looks_like_formula(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!is_blank(character.code)) return begins_formula(character.code);
    text.remove_prefix(character.length);
  }
  return false;
}

std::string replaced(std::string_view text,
                     std::initializer_list<std::pair<std::string_view, std::string_view>> pairs) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t length = 0;
    for (const auto& [from, to] : pairs) {
      if (!text.substr(at).starts_with(from)) continue;
      result += to;
      length = from.size();
      break;
    }
    if (length == 0) {
      result += text[at];
      length = 1;
    }
    at += length;
  }
  return result;
}

}  // namespace

namespace {

// "- x", "+ x", "1. x" and "1) x" begin lists, "---" and "===" make a heading of the line above;
// "-1.22" and "46.15" are figures. `mark` is behind the digits at the start.
bool begins_markdown_block(std::string_view line, size_t mark) {
  if (mark == line.size()) return false;
  const char next = mark + 1 < line.size() ? line[mark + 1] : ' ';
  if (mark > 0) return (line[mark] == '.' || line[mark] == ')') && next == ' ';
  const bool is_mark = line[mark] == '-' || line[mark] == '+' || line[mark] == '=';
  return is_mark && (next < '0' || next > '9');
}

}  // namespace

std::string markdown_cell(std::string_view text) {
  return replaced(printable(text), {{"&", "&amp;"},
                                    {"<", "&lt;"},
                                    {">", "&gt;"},
                                    {"\\", "\\\\"},
                                    {"|", "\\|"},
                                    {"`", "\\`"},
                                    {"*", "\\*"},
                                    {"_", "\\_"},
                                    {"[", "\\["},
                                    {"]", "\\]"},
                                    {"~", "\\~"},
                                    {"$", "\\$"},
                                    {"#", "\\#"}});
}

std::string markdown_text(std::string_view text) {
  std::string line = markdown_cell(text);
  line.erase(0, line.find_first_not_of(' '));
  const size_t mark = std::min(line.find_first_not_of("0123456789"), line.size());
  if (begins_markdown_block(line, mark)) line.insert(mark, 1, '\\');
  return line;
}

std::string markdown_code(std::string_view text) {
  const std::string code = printable(text);
  size_t longest = 0;
  for (size_t at = 0, run = 0; at < code.size(); ++at) {
    run = code[at] == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string_view gap = longest > 0 ? " " : "";
  return fence + std::string(gap) + code + std::string(gap) + fence;
}

std::string csv_text(std::string_view text) {
  std::string field = printable(text);
  if (looks_like_formula(field)) field.insert(field.begin(), '\'');
  // Semicolons separate fields where commas are decimal signs.
  if (field.find_first_of(",;\"") == std::string::npos) return field;
  std::string quoted(1, '"');
  quoted += replaced(field, {{"\"", "\"\""}});
  return quoted + '"';
}

std::string html_text(std::string_view text) {
  return replaced(terminal_text(text), {{"&", "&amp;"},
                                        {"<", "&lt;"},
                                        {">", "&gt;"},
                                        {"\"", "&quot;"},
                                        {"'", "&#39;"},
                                        {"`", "&#96;"}});
}

std::string ascii_text(std::string_view text) {
  const std::string known = replaced(text, {{"±", "+-"},
                                            {"·", "|"},
                                            {"≈", "~"},
                                            {"×", "x"},
                                            {"…", "..."},
                                            {"–", "-"},
                                            {"—", "-"},
                                            {"−", "-"}});
  std::string ascii;
  for (std::string_view rest = known; !rest.empty();) {
    const Character character = first_character(rest);
    ascii += character.code < 0x80 ? static_cast<char>(character.code) : '?';
    rest.remove_prefix(character.length);
  }
  return ascii;
}

std::string shortened(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && is_continuation(text[end])) --end;
  text.resize(end);
  return text + "...";
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+:,=@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace precbench
