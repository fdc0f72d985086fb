// What happens once before training: which mode runs, process-wide switches, the model.
#pragma once

#include <memory>

#include "common/job.h"
#include "common/modes.h"
#include "train/device/device_module.h"
#include "train/models/registry.h"
#include "train/precision/precision.h"

namespace precbench::train {

// The mode that really runs: with cpu_fp16 "fabric", bf16-mixed for 16-mixed on the CPU. Throws
// UnsupportedError where the device has no TF32 for the mode of that name.
const ModeTraits& effective_mode(const TrainJob& job, const DeviceModule& device);

// Whether attention is computed by separate products and a softmax, as SDPBackend.MATH in Python,
// or by the kernel that PyTorch takes.
void use_math_attention(bool on);

// Attention, TF32, determinism, cuDNN's search, and whether steps are going to be recorded.
void apply_numeric_settings(const TrainJob& job, const ModeTraits& mode, DeviceModule& device);

at::MemoryFormat memory_format(const TrainJob& job);

// Which products FP8 layers use on the device.
Float8Kernel float8_kernel(const DeviceModule& device);

// Seeds every generator, draws the weights (or reads them from init_weights), converts them for the
// mode and moves them to the device.
std::unique_ptr<Model> build_model(const TrainJob& job, const SampleShape& shape,
                                   Precision& precision, DeviceModule& device);

}  // namespace precbench::train
