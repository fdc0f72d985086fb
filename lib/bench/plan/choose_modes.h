// Which modes run, and which one the others are compared with.
#pragma once

#include "bench/plan/plan.h"
#include "bench/plan/resolver.h"

namespace precbench {

// Fills modes, native_modes_only and reference from --modes and --reference; adds Fabric's sentence
// about a discouraged alias, and one about a mode named twice, to the warnings. Throws UsageError
// for an unknown mode and for a reference that is not among the modes.
void choose_modes(const ResolvedOptions& options, Plan& plan);

}  // namespace precbench
