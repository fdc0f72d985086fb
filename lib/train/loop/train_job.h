// A train job from its data to its result.
#pragma once

#include <functional>

#include "common/job.h"
#include "train/base/event_sink.h"
#include "train/data/data_set.h"
#include "train/device/device_module.h"
#include "train/parallel/ranks.h"

namespace precbench::train {

// `ranks`: the workers that train one model together, where there are several.
// Throws FileError, UnsupportedError, c10::OutOfMemoryError, std::bad_alloc, and others for the
// rest.
TrainResult run_train_job(const TrainJob& job, DeviceModule& device, const EventSink& emit,
                          Ranks* ranks = nullptr);

// The same with samples from elsewhere than the job's data set.
using DataSource = std::function<DataSet(const TrainJob& job, DeviceModule& device)>;
TrainResult run_train_job(const TrainJob& job, DeviceModule& device, const EventSink& emit,
                          const DataSource& source, Ranks* ranks = nullptr);

}  // namespace precbench::train
