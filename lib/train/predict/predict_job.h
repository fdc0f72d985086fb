// Memory of training steps on cards that are not here: a few steps of each mode on each simulated
// card.
#pragma once

#include <functional>
#include <memory>

#include "common/job.h"
#include "train/data/data_set.h"
#include "train/device/device_module.h"

namespace precbench::train {

// One sample for each split: what shape and dtype the job's data have. Throws FileError.
DataSet example_of(const TrainJob& job);

// A simulated card as a new process finds it, without workspaces and cached memory of earlier runs.
using FreshCard = std::function<std::unique_ptr<DeviceModule>()>;

// A row of run_predict_job().
json predict_mode(const TrainJob& job, const std::string& mode, const DataSet& example,
                  bool find_max_batch, const FreshCard& fresh_card);

// {gpus: [{gpu, name, ..., modes: [{mode, status, reason, peak_allocated_bytes,
// peak_reserved_bytes, split, least_step_ms, free_bytes, max_batch_size}]}]}. Where a user's module
// cannot be run, the row has the reason. Throws c10::NotImplementedError naming an operation of one
// of our models that the simulation does not know, DeviceError for a card that it does not know,
// and FileError for a module or a bundle that cannot be read.
json run_predict_job(const PredictJob& predict, const TrainJob& train);

}  // namespace precbench::train
