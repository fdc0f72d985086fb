// Words of the advice that more than one part of it uses.
#pragma once

#include <string>

#include "bench/judge/judge.h"

namespace precbench {

// "3.7 times faster"; with repeats "2.08 ± 0.02 times faster". The change must be known.
std::string factor_words(const MetricComparison& speed);

// "3 runs each", "one run each", "3 runs against 1"
std::string runs_words(const ModeRecord& mode, const ModeRecord& reference);

}  // namespace precbench
