// The largest batch of one row, tried in workers: two steps each.
#pragma once

#include <string>

#include "bench/plan/plan.h"
#include "bench/run/batch_search.h"
#include "bench/run/console.h"
#include "bench/worker/device_choice.h"
#include "bench/worker/job_runner.h"

namespace precbench {

struct RowBatch {
  BatchSearch search;
  std::string problem;  // another error than memory, which ended the search; empty = none
  bool not_one() const { return problem.empty() && !search.largest; }
};

// Throws UsageError where nothing would end the search but this machine's memory. `option` is what
// asked for it.
void require_memory_limit(const Plan& plan, const DeviceChoice& device, const std::string& option);

// `samples` is the size of the training data; 0: a trial tells it.
RowBatch find_row_batch(const Plan& plan, const PlannedRow& row, const DeviceChoice& device,
                        int64_t samples, JobRunner& runner, Console& console);

}  // namespace precbench
