#include "common/utf8.h"

#include <locale.h>
#include <wchar.h>

#include <cstdint>

namespace precbench {
namespace {

constexpr char32_t kLast = 0x10FFFF;

bool is_surrogate(char32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

// The C library's table of widths is that of its locale, which need not be the user's.
class WidthLocale {
 public:
  WidthLocale() {
    static const locale_t kUtf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (kUtf8 != nullptr) before_ = ::uselocale(kUtf8);
  }
  ~WidthLocale() {
    if (before_ != nullptr) ::uselocale(before_);
  }
  WidthLocale(const WidthLocale&) = delete;
  WidthLocale& operator=(const WidthLocale&) = delete;

 private:
  locale_t before_ = nullptr;
};

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const Character invalid = {lead, 1, false};
  if (lead < 0x80) return {lead, 1, true};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC0 || lead > 0xF7 || text.size() < length) return invalid;
  auto code = static_cast<char32_t>(lead & (0x7F >> length));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return invalid;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t kShortest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kShortest[length] || code > kLast || is_surrogate(code)) return invalid;
  return {code, length, true};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.is_valid) return false;
    text.remove_prefix(character.length);
  }
  return true;
}

size_t columns_of(std::string_view text) {
  size_t columns = 0, plain = 0;
  while (plain < text.size() && static_cast<uint8_t>(text[plain]) < 0x80) ++plain;
  if (plain == text.size()) return plain;
  const WidthLocale in_effect;
  while (!text.empty()) {
    const Character character = first_character(text);
    const int width = ::wcwidth(static_cast<wchar_t>(character.code));
    columns += width < 0 ? 1 : static_cast<size_t>(width);  // not known to it: as a terminal would
    text.remove_prefix(character.length);
  }
  return columns;
}

}  // namespace precbench
