// A job that is a question: one worker, no progress, and an answer or none.
#pragma once

#include <string>

#include "bench/worker/job_runner.h"

namespace precbench {

// Runs the job as a child of this process. Throws UserError, "interrupted before " + `until`, with
// the signal's exit code, when the user interrupts it; whether there is a result is the caller's to
// judge.
JobOutcome ask_worker(Job job, const JobLimits& limits, JobRunner& runner,
                      const std::string& until);

}  // namespace precbench
