// The same training twice: as the worker does it, with all that it measures, and as a bare loop.
#pragma once

#include <memory>
#include <string>

#include "train/data/data_set.h"
#include "train/device/cpu_device.h"
#include "train/models/model.h"

namespace precbench::train {

// `tiny`: a linear layer of 16 on 4 features, whose step is almost nothing but overhead, and
// batches of 8. `mlp`: the model of that name with batches of 64.
struct LoopSetting {
  TrainJob job;
  CpuDevice device;
  DataSet data;
  std::unique_ptr<Model> model;
};
std::unique_ptr<LoopSetting> make_setting(const std::string& size, int64_t steps);

// Both train `job.steps` steps and return what the wall clock showed for them, in seconds.
double train_measured(LoopSetting& setting);
double train_bare(LoopSetting& setting);

}  // namespace precbench::train
