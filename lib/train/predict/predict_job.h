// Memory of training steps on cards that are not here: a few steps of each mode on each simulated
// card.
#pragma once

#include "common/job.h"

namespace precbench::train {

// {gpus: [{gpu, name, ..., modes: [{mode, status, reason, peak_allocated_bytes,
// peak_reserved_bytes, split, free_bytes, max_batch_size}]}]}. Throws c10::NotImplementedError
// naming an operation that the simulation does not know, and DeviceError for a card that it does
// not know.
json run_predict_job(const PredictJob& predict, const TrainJob& train);

}  // namespace precbench::train
