// From resolved options to a plan; everything that can be wrong about options together is told
// here.
#pragma once

#include "bench/plan/plan.h"
#include "bench/plan/resolver.h"

namespace precbench {

// Throws UsageError.
Plan make_plan(const ResolvedOptions& options, std::vector<std::string> argv);

}  // namespace precbench
