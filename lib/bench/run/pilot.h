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

// The reference's first steps are run twice where nothing else repeats them: in its pilot and in
// its run.
inline constexpr int64_t kRepeatedSteps = 20;

// How many steps the pilot of `mode` takes: --pilot, and kRepeatedSteps (at most the whole run) for
// the reference where each mode runs once and --pilot is at its default.
int64_t pilot_steps(const Plan& plan, const PlannedRow& row, const RunSize& size);

// Whether a pilot's steps are those of the run: a schedule over the whole run gives a shorter one
// other learning rates.
bool repeats_the_run(const TrainJob& job);

// The job of a pilot: `steps` optimizer steps and one evaluation batch; nothing is written to
// files.
TrainJob pilot_job(TrainJob job, int64_t steps);

// The time and memory of a whole run, projected from its pilot. The first step is counted apart: it
// pays for start-up work (kernel selection, memory), so the steady steps' median stands for all
// others.
PilotRecord projected(const RunRecord& pilot, const RunSize& size);

// How long a run of this mode is going to take: as its runs so far, else as its pilot projects.
std::optional<double> expected_s(const ModeRecord& mode);

}  // namespace precbench
