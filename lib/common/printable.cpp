#include "common/printable.h"

#include "common/utf8.h"

namespace precbench {
namespace {

// Tabs and line ends, U+0085, U+2028 and U+2029 too.
bool is_space(char32_t code) {
  return (code >= '\t' && code <= '\r') || code == 0x85 || code == 0x2028 || code == 0x2029;
}

// Unicode's property Bidi_Control.
bool reorders(char32_t code) {
  return code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

bool is_noncharacter(char32_t code) {
  return (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
}

void append_safely(std::string& safe, std::string_view bytes, const Character& character) {
  if (!character.is_valid) {
    safe += '?';
  } else if (is_space(character.code)) {
    safe += ' ';
  } else if (is_control(character.code) || reorders(character.code) ||
             is_noncharacter(character.code)) {
    safe += '?';
  } else {
    safe += bytes;
  }
}

std::string made_safe(std::string_view text, bool keeps_line_ends) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    if (keeps_line_ends && text.starts_with("\n ")) {
      safe += '\n';
    } else {
      append_safely(safe, text.substr(0, character.length), character);
    }
    text.remove_prefix(character.length);
  }
  return safe;
}

}  // namespace

std::string printable(std::string_view text) { return made_safe(text, false); }

std::string printable_message(std::string_view text) { return made_safe(text, true); }

}  // namespace precbench
