// `precbench run --find-max-batch`: an experiment of its own, with its own table.
#pragma once

#include "bench/plan/plan.h"

namespace precbench {

// For each mode the largest batch size whose training step fits in --memory-limit (the resident
// data set is not counted), or on a GPU in its memory; every trial is two steps in a worker of its
// own. Prints a table, or with --format json {kind "max_batch", limit_bytes, modes: [{mode, status,
// reason, batch_size, peak_allocated_bytes, next: {batch_size, reason}, trials}]}. Returns the exit
// code. Throws UsageError on a CPU without a limit.
int find_max_batches(Plan plan);

}  // namespace precbench
