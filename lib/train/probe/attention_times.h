// How long a model takes with each computation of attention.
#pragma once

#include "common/job.h"
#include "common/json_fields.h"
#include "train/device/device_module.h"

namespace precbench::train {

// {default_s, math_s: seconds of a forward and a backward pass over one batch, by PyTorch's own
// attention kernel and by separate products (SDPBackend.MATH), medians of passes in turn; samples:
// how many of each}, after one of each that does not count. Goes on for about `seconds`. Leaves the
// choice to PyTorch. Throws as a training would.
json attention_times(const TrainJob& job, DeviceModule& device, double seconds);

}  // namespace precbench::train
