#include "common/json_text.h"

#include <algorithm>

#include "common/printable.h"
#include "common/utf8.h"

namespace precbench {
namespace {

std::string escaped(char32_t code) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[code >> shift & 0xF];
  return text;
}

}  // namespace

std::string json_text(const json& value, int indent, bool ascii) {
  const std::string plain = value.dump(indent, ' ', ascii, json::error_handler_t::replace);
  std::string text;
  text.reserve(plain.size());
  // Below U+007F all that is left are letters and our own line ends.
  const auto is_plain = [](char byte) { return static_cast<unsigned char>(byte) < 0x7F; };
  for (auto at = plain.begin(); at != plain.end();) {
    const auto next = std::find_if_not(at, plain.end(), is_plain);
    text.append(at, next);
    if ((at = next) == plain.end()) break;
    const auto left = static_cast<size_t>(plain.end() - at);
    const Character character = first_character(std::string_view(&*at, left));
    const std::string_view bytes(&*at, character.length);
    // Noncharacters beyond U+FFFF do nothing to a terminal, and one \uXXXX cannot hold them.
    const bool is_safe = printable(bytes) == bytes || character.code > 0xFFFF;
    text += is_safe ? std::string(bytes) : escaped(character.code);
    at += static_cast<std::ptrdiff_t>(character.length);
  }
  return text;
}

}  // namespace precbench
