// `--devices 1,2,4`: the same comparison on several numbers of devices, one after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/plan/plan.h"
#include "bench/result/document.h"

namespace precbench {

struct ScalingRuns {
  std::vector<ResultDocument> documents;
  int exit_code = 0;  // the first that was not 0; an interruption's ends it
};

// `program` is run with `options` for each number of devices. All train at the same global batch,
// which is the plan's batch size, and each device has an equal part of the plan's threads, that of
// the largest number. Throws UsageError where a number does not divide the batch.
ScalingRuns run_on_each(const std::vector<int64_t>& numbers, const Plan& plan,
                        const std::string& program, const std::vector<std::string>& options,
                        const std::function<void(const std::string&)>& tell);

}  // namespace precbench
