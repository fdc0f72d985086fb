// The training that the worker's tests and the simulated GPU's share.
#pragma once

#include <string>

#include "common/job.h"

namespace precbench {

// A job of a few steps on 12x12 synthetic images; tests change what they are about.
inline TrainJob small_job(const std::string& mode) {
  TrainJob job;
  job.mode = mode;
  job.dataset.name = "synthetic";
  job.dataset.synthetic_shape = {1, 12, 12};
  job.dataset.synthetic_train = 64;
  job.dataset.synthetic_test = 32;
  job.batch_size = 16;
  job.steps = 3;
  return job;
}

}  // namespace precbench
