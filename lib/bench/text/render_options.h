// Where a text is going to be read.
#pragma once

#include <cstddef>

namespace precbench {

struct RenderOptions {
  bool ascii = false;  // no ± · ≈: for a locale that is not UTF-8
  bool color = false;  // ANSI colours, for a terminal
  size_t columns = 0;  // of the terminal; 0 = lines as long as they come
};

// Whether LC_ALL, LC_CTYPE or LANG (the first one set, as in POSIX) names UTF-8.
bool locale_is_utf8();

}  // namespace precbench
