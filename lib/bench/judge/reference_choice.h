// The mode that the advice compares the others with, and what to say where it is not the one that
// was asked for.
#pragma once

#include <string>

#include "bench/result/document.h"
#include "bench/text/escape.h"

namespace precbench {

inline std::string name_in_text(const ModeRecord& mode) { return terminal_text(mode.mode); }

// Whether a mode's figures say anything: it ran and learned.
bool is_usable(const ModeRecord& mode);

struct ReferenceChoice {
  const ModeRecord* mode = nullptr;  // null: no mode is usable
  std::string sentence;              // why it is another one, or none; else empty
};
ReferenceChoice choose_reference(const ResultDocument& document);

}  // namespace precbench
