// --batch-size max: each row at the largest batch that fits it.
#pragma once

#include "bench/plan/plan.h"
#include "bench/run/console.h"
#include "bench/run/recording.h"
#include "bench/worker/device_choice.h"
#include "bench/worker/job_runner.h"

namespace precbench {

// Finds what rows that will run have no batch for yet (an earlier, interrupted comparison has found
// some), sets it in the plan and in the recording, and the learning rate by --lr-scale. Rows that
// fit not one sample get their status.
void choose_own_batches(Plan& plan, const DeviceChoice& device, int64_t samples, JobRunner& runner,
                        Console& console, Recording& recording);

}  // namespace precbench
