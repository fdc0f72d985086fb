#include "bench/report/escape.h"

#include <array>
#include <utility>

namespace precbench {
namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// Length of the sequence at `at` that must not reach a terminal, and what takes its place.
std::pair<size_t, std::string_view> unsafe_at(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte == '\n' || byte == '\r' || byte == '\t') return {1, " "};
  if (byte < 0x20 || byte == 0x7F) return {1, ""};
  const std::string_view two = text.substr(at, 2);
  // C1 control characters, U+0080 to U+009F: 8-bit forms of escape sequences.
  if (two.size() == 2 && byte == 0xC2 && static_cast<unsigned char>(two[1]) < 0xA0) return {2, ""};
  const std::string_view three = text.substr(at, 3);
  if (three.size() == 3 && three.starts_with("\xE2")) {
    const auto second = static_cast<unsigned char>(three[1]);
    const auto third = static_cast<unsigned char>(three[2]);
    // U+2028 and U+2029 end lines; U+202A to U+202E and U+2066 to U+2069 reorder what follows.
    if (second == 0x80 && (third == 0xA8 || third == 0xA9)) return {3, " "};
    if (second == 0x80 && third >= 0xAA && third <= 0xAE) return {3, ""};
    if (second == 0x81 && third >= 0xA6 && third <= 0xA9) return {3, ""};
  }
  return {0, ""};
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

std::string terminal_text(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const auto [length, replacement] = unsafe_at(text, at);
    if (length == 0) {
      result += text[at++];
    } else {
      result += replacement;
      at += length;
    }
  }
  return result;
}

std::string markdown_text(std::string_view text) {
  return replaced(terminal_text(text), {{"&", "&amp;"},
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
                                        {"#", "\\#"}});
}

std::string csv_text(std::string_view text) {
  std::string field = terminal_text(text);
  if (!field.empty() && std::string_view("=+-@").find(field.front()) != std::string_view::npos) {
    field.insert(field.begin(), '\'');
  }
  if (field.find_first_of(",\"") == std::string::npos) return field;
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
  return replaced(text, {{"±", "+-"},
                         {"·", "|"},
                         {"≈", "~"},
                         {"×", "x"},
                         {"…", "..."},
                         {"–", "-"},
                         {"—", "-"},
                         {"−", "-"}});
}

std::string shortened(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && is_continuation(text[end])) --end;
  text.resize(end);
  return text + "...";
}

}  // namespace precbench
