// What the profile `tuned` chooses the computation of attention by: a few steps of the model itself
// on this machine, with each.
#pragma once

#include <string>
#include <vector>

#include "bench/plan/plan.h"
#include "bench/worker/device_choice.h"
#include "bench/worker/job_runner.h"
#include "data/load.h"

namespace precbench {

// Fills attention_times where they decide something: for float32 and the 16-bit formats that this
// CPU computes natively, by one worker each, whatever modes are asked for, so that they make no
// difference to the protocol. Returns sentences for the user: what was found, and what could
// not be measured, where the comparison goes on with PyTorch's own kernel. Throws UserError when it
// is interrupted.
std::vector<std::string> measure_attention(Plan& plan, const DeviceChoice& device,
                                           const data::DatasetSummary& data, JobRunner& runner);

}  // namespace precbench
