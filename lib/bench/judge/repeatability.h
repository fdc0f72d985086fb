// What the runs of one mode with one seed say about each other: drift of the machine, outliers, and
// whether the same seed gives the same losses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/measured.h"

namespace precbench {

// Time of the reference's run at the end over its first one; nothing without a drift run.
std::optional<double> drift_ratio(const ModeRecord& reference);

// "repeatable: the same seed gives the same losses bitwise (469 steps)" or "the same seed differs
// at step 12", of two runs of one mode with the same seed, else of the reference's pilot and its
// run; nothing when there are none with a trace.
std::optional<std::string> repeatability(const ModeRecord& mode);

// Sentences for the footnotes, without the mode's name.
std::vector<std::string> run_notes(const ModeRecord& mode);

}  // namespace precbench
