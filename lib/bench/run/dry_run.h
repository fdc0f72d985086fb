// --dry-run: what would run, in which order, and which options are not at their default.
#pragma once

#include "bench/plan/plan.h"

namespace precbench {

// Prints to stdout; starts no worker. Returns the exit code.
int print_dry_run(const Plan& plan);

}  // namespace precbench
