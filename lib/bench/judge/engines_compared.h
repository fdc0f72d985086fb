// What a step takes in one engine beside the other.
#pragma once

#include <string>

#include "bench/result/document.h"

namespace precbench {

// Of the modes that ran in both engines, "A step in Python is, beside libtorch's: 32-true 1.20
// times slower (...)."; empty where there is none. One run on each side has the spread of its own
// steps.
std::string engines_compared(const ResultDocument& document);

}  // namespace precbench
