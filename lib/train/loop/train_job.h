// A train job from its data to its result.
#pragma once

#include "common/job.h"
#include "train/cuda/device_module.h"
#include "train/event_sink.h"

namespace precbench::train {

// Throws FileError, UnsupportedError, c10::OutOfMemoryError, std::bad_alloc, and others for the
// rest.
TrainResult run_train_job(const TrainJob& job, DeviceModule& device, const EventSink& emit);

}  // namespace precbench::train
