// The steps of each mode that are tried before any run, one line each: people learn in seconds what
// would have cost them an hour.
#pragma once

#include "bench/plan/plan.h"
#include "bench/run/console.h"
#include "bench/run/recording.h"
#include "bench/run/troubles.h"
#include "bench/worker/device_choice.h"
#include "bench/worker/job_runner.h"
#include "data/load.h"

namespace precbench {

struct TrialParts {
  const Plan& plan;
  JobRunner& runner;
  Console& console;
  const DeviceChoice& device;
  Recording& recording;        // gets pilots, and the status of modes that will not run
  data::DatasetSummary& data;  // gets the size of a bundle, which the worker alone knows
  Troubles& troubles;
};

// Tries each mode that will run, unless --pilot is 0, and tells of every mode what is known.
void try_modes(const TrialParts& parts);

}  // namespace precbench
