// JSON as text, for files and streams alike.
#pragma once

#include <string>

#include "common/json_fields.h"

namespace precbench {

inline constexpr int kJsonIndent = 1;  // of files and of --format json; -1 = all on one line

// Whatever a text holds: bytes that are not UTF-8 become U+FFFD, and what acts on a terminal (C1
// controls, characters that reorder text) is escaped as \uXXXX, which reads back the same.
std::string json_text(const json& value, int indent = kJsonIndent, bool ascii = false);

}  // namespace precbench
