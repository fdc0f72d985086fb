// The highest rate that a mode's format was seen to reach on a device, to set a run's own beside
// (judge/ceiling.h).
#pragma once

#include <optional>

#include "bench/platform/device_facts.h"
#include "bench/result/document.h"
#include "common/modes.h"

namespace precbench {

// Of a linear layer's and a convolution's products the faster one, as `precbench probe` measured it
// and kept it for this machine; else, for a GPU, what its data sheet promises. Nothing where
// neither is known: a run never waits for a probe. `probe`: a kept document (probe_machine.h).
std::optional<Ceiling> ceiling_of(const ModeTraits& mode, const DeviceFacts& device,
                                  const std::optional<json>& probe);

}  // namespace precbench
