// What a few steps of a mode tell about its whole run.
#pragma once

#include <cstdint>

#include "bench/plan/plan.h"
#include "bench/result/document.h"

namespace precbench {

// How much work one run is, from the plan and the number of samples there are.
struct RunSize {
  int64_t train_steps = 0;   // optimizer steps
  int64_t eval_batches = 0;  // over all evaluations
};

RunSize run_size(const TrainJob& job, int64_t train_samples, int64_t test_samples);

// The job of a pilot: `steps` optimizer steps and one evaluation batch; nothing is written to
// files.
TrainJob pilot_job(TrainJob job, int64_t steps);

// The time and memory of a whole run, projected from its pilot. The first step is counted apart: it
// pays for start-up work (kernel selection, memory), so the steady steps' median stands for all
// others.
PilotRecord projected(const RunRecord& pilot, const RunSize& size);

}  // namespace precbench
