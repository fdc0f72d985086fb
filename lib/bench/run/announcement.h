// What is known and told before the first run.
#pragma once

#include <string>
#include <vector>

#include "bench/plan/plan.h"
#include "bench/run/console.h"
#include "bench/run/recording.h"
#include "bench/worker/device_choice.h"

namespace precbench {

// The verdict on each mode; one that is not going to run is a row with its reason.
void decide_support(const Plan& plan, const DeviceChoice& device, Recording& recording);

// The machine, the workload, what was chosen for this device, and what may go wrong.
void announce(const Plan& plan, const DeviceChoice& device, const ResultDocument& document,
              const std::vector<std::string>& attention_notes, Console& console);

}  // namespace precbench
