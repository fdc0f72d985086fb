// `precbench run`: everything from a plan to saved results and an exit code.
#pragma once

#include "bench/plan/plan.h"
#include "bench/worker/job_runner.h"

namespace precbench {

// Checks data and folders, asks the worker what is there, tries a few steps of each mode, runs
// every mode, saves after each run, prints. Returns the process's exit code. Throws UserError for
// what must stop it before any run.
int run_session(Plan plan);

// The same with a given runner (tests).
int run_session(Plan plan, JobRunner& runner);

}  // namespace precbench
