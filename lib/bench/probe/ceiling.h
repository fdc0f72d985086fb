// The highest rate that a mode's format was seen to reach on a device, to set a run's own beside.
#pragma once

#include <optional>
#include <string>

#include "bench/platform/device_facts.h"
#include "bench/result/document.h"

namespace precbench {

// Of a linear layer's and a convolution's products the faster one, as `precbench probe` measured it
// and kept it for this machine; else, for a GPU, what its data sheet promises. Nothing where
// neither is known: a run never waits for a probe. `probe`: a kept document (probe_machine.h).
std::optional<Ceiling> ceiling_of(const ModeTraits& mode, const DeviceFacts& device,
                                  const std::optional<json>& probe);

// "0.19 TFLOP/s in matrix products and convolutions, 38 % of bfloat16's rate here (precbench
// probe)"; nothing without a ceiling or a run that tells.
std::optional<std::string> ceiling_note(const ModeRecord& mode);

// On a GPU, a mode that reaches less than this share of the ceiling spends its time on launches:
// the difference between modes is then not the formats'.
inline constexpr double kTooSmallShare = 0.05;

std::optional<Mark> too_small_mark(const ModeRecord& mode);

}  // namespace precbench
