// The one hazard of a recipe that both processes tell of: the coordinator before a run, the worker
// in the run's notes.
#pragma once

#include "common/job.h"
#include "common/modes.h"

namespace precbench {

// An eps up to this is 0 in float16: its smallest subnormal is 2^-24, and half of that rounds to
// even, which is 0.
inline constexpr double kVanishesInFloat16 = 0x1p-25;

// Whether Adam's eps is 0 where it is added, so that a vanished squared gradient divides by zero.
// The fused kernels compute in float32.
inline bool eps_vanishes(const ModeTraits& mode, const OptimizerJob& optimizer) {
  const bool is_adam = optimizer.name == "adam" || optimizer.name == "adamw";
  return mode.parameters == Dtype::float16 && is_adam && optimizer.impl != "fused" &&
         optimizer.eps <= kVanishesInFloat16;
}

}  // namespace precbench
