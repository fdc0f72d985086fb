// A result document in one of the output formats. A new format is one class in a file of its own
// and one row in printers.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/result/document.h"

namespace precbench {

struct RenderOptions {
  bool ascii = false;  // no ± · ≈: for a locale that is not UTF-8
  bool color = false;  // ANSI colours, for a terminal
  size_t columns = 0;  // of the terminal; 0 = lines as long as they come
};

class Printer {
 public:
  virtual ~Printer() = default;
  virtual std::string render(const ResultDocument& document,
                             const RenderOptions& options) const = 0;
};

// text | report | table | markdown | csv | json | none. The text is complete and ends with a line
// end, or is empty. Throws UsageError naming the formats.
std::string render(std::string_view format, const ResultDocument& document,
                   const RenderOptions& options = {});

std::vector<std::string> format_names();

// Whether LC_ALL, LC_CTYPE or LANG (the first one set, as in POSIX) names UTF-8.
bool locale_is_utf8();

}  // namespace precbench
