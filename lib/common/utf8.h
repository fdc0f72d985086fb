// UTF-8, character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace precbench {

struct Character {
  char32_t code = 0;      // of a byte that begins no valid sequence: that byte
  size_t length = 0;      // in bytes
  bool is_valid = false;  // RFC 3629: no overlong forms, no surrogates, nothing over U+10FFFF
};

// The first one of a text that is not empty.
Character first_character(std::string_view text);

bool is_utf8(std::string_view text);

// Columns of a terminal: wide characters take two, combining ones none.
size_t columns_of(std::string_view text);

}  // namespace precbench
