// Where --dump-trace and --save-weights write what belongs to one run.
#pragma once

#include <string>

#include "bench/plan/schedule.h"

namespace precbench {

// `path` itself, or, where it names a folder, the run's file in it:
// "traces/bf16-mixed.fabric-seed42-repeat1.trace". Engine and repeat (from 0) stand in the name
// where the plan has several. Empty for an empty path, and in a folder for a run that is not
// measured: it would be the same file again.
std::string file_of_run(const Plan& plan, const RunSlot& slot, const std::string& path,
                        const std::string& ending);

}  // namespace precbench
