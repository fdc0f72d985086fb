#include "common/printable.h"

#include <cstddef>
#include <cstdint>

namespace precbench {
namespace {

// Length of the valid UTF-8 sequence at the start of `text` (RFC 3629: no overlong forms, no
// surrogates), or 0.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto continues = [&](size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    if (lead == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

// C1 controls (U+0080 to U+009F) act on terminals like escape sequences.
bool is_c1_control(std::string_view sequence) {
  return sequence.size() == 2 && static_cast<uint8_t>(sequence[0]) == 0xC2 &&
         static_cast<uint8_t>(sequence[1]) < 0xA0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence_length(text.substr(i));
    const std::string_view sequence = text.substr(i, length == 0 ? 1 : length);
    const auto first = static_cast<uint8_t>(sequence[0]);
    if (first == '\t' || first == '\n' || first == '\r') {
      safe += ' ';
    } else if (length == 0 || first < 0x20 || first == 0x7F || is_c1_control(sequence)) {
      safe += '?';
    } else {
      safe += sequence;
    }
    i += sequence.size();
  }
  return safe;
}

}  // namespace precbench
