// What a run's rate says beside the highest one that its format reaches (probe/ceiling.h).
#pragma once

#include <optional>
#include <string>

#include "bench/result/document.h"

namespace precbench {

// "0.19 TFLOP/s in matrix products and convolutions, 38 % of bfloat16's rate here (precbench
// probe)"; nothing without a ceiling or a run that tells.
std::optional<std::string> ceiling_note(const ModeRecord& mode);

// On a GPU, a mode that reaches less than this share of the ceiling spends its time on launches:
// the difference between modes is then not the formats'.
inline constexpr double kTooSmallShare = 0.05;

std::optional<Mark> too_small_mark(const ModeRecord& mode);

}  // namespace precbench
