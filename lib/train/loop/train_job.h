// A train job from its data to its result.
#pragma once

#include <functional>

#include "common/job.h"
#include "train/base/event_sink.h"
#include "train/data/data_set.h"
#include "train/device/device_module.h"

namespace precbench::train {

// Throws FileError, UnsupportedError, c10::OutOfMemoryError, std::bad_alloc, and others for the
// rest.
TrainResult run_train_job(const TrainJob& job, DeviceModule& device, const EventSink& emit);

// The same with samples from elsewhere than the job's data set.
using DataSource = std::function<DataSet(const TrainJob& job, DeviceModule& device)>;
TrainResult run_train_job(const TrainJob& job, DeviceModule& device, const EventSink& emit,
                          const DataSource& source);

}  // namespace precbench::train
