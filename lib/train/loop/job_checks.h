// A job may be written by hand: what no run can be made of is told before anything is loaded.
#pragma once

#include "common/job.h"

namespace precbench::train {

// Throws std::invalid_argument naming the member, what it is and what is allowed.
void check_train_job(const TrainJob& job);

}  // namespace precbench::train
