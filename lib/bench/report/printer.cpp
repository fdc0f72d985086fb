#include "bench/report/printer.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "bench/report/printers.h"
#include "common/errors.h"
#include "common/suggest.h"

namespace precbench {
std::string render(std::string_view format, const ResultDocument& document,
                   const RenderOptions& options) {
  for (const Format& row : kFormats) {
    if (row.name == format) return row.make()->render(document, options);
  }
  throw UsageError("unknown format '" + std::string(format) +
                   "'\nformats: " + joined(format_names()));
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& row : kFormats) names.emplace_back(row.name);
  return names;
}

bool locale_is_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string name(value);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace precbench
