// What is done to gradients between the backward pass and the optimizer's step.
#pragma once

#include "common/job.h"
#include "train/precision/precision.h"

namespace precbench::train {

// The test hook `inject_inf_at_step`: one element becomes infinite.
void inject_infinity(const Optimizer& optimizer);

// As the job asks for. Whether that could be done: a norm that is not finite scales nothing.
bool clip_gradients(const TrainJob& job, Precision& precision, Optimizer& optimizer);

}  // namespace precbench::train
