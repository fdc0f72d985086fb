// What the tests of the simulated GPU share. One process has one card; a test inserts its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "../small_job.h"
#include "common/gpu_cards.h"
#include "train/base/torch.h"
#include "train/device/counting_allocator.h"
#include "train/loop/train_job.h"
#include "train/simulated_gpu/gpu.h"
#include "train/simulated_gpu/registration.h"
#include "train/simulated_gpu/simulated_device.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {

// First of all, as the worker: ATen asks once what accelerator there is, and remembers "none".
inline const bool kPrepared = [] {
  CountingAllocator::install();
  register_simulated_gpu();
  return true;
}();

inline SimulatedDevice card(const std::string& id) { return SimulatedDevice(*find_gpu_card(id)); }

inline torch::Tensor on_card(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
  return torch::empty(sizes, torch::TensorOptions().device(kCard).dtype(dtype));
}

inline torch::Tensor parameter(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
  return on_card(sizes, dtype).set_requires_grad(true);
}

inline std::vector<TracedOperation> traced(const std::function<void()>& work) {
  gpu().trace().start();
  work();
  return gpu().trace().stop();
}

using Dtypes = std::set<at::ScalarType>;

// Of all runs of the operation; empty if it did not run.
inline Dtypes inputs_of(const std::vector<TracedOperation>& trace, const std::string& name) {
  Dtypes dtypes;
  for (const TracedOperation& operation : trace) {
    if (operation.name == name) dtypes.insert(operation.inputs.begin(), operation.inputs.end());
  }
  return dtypes;
}

inline bool ran(const std::vector<TracedOperation>& trace, const std::string& name) {
  for (const TracedOperation& operation : trace) {
    if (operation.name == name) return true;
  }
  return false;
}

// With Python's default optimizer on CUDA.
inline TrainJob small_job(const std::string& mode, const std::string& model = "cnn") {
  TrainJob job = precbench::small_job(mode);
  job.model = model;
  job.optimizer.impl = "foreach";
  return job;
}

// As in a process of its own: without what an earlier run has left of libraries' workspaces.
inline TrainResult run_on(DeviceModule& device, const TrainJob& job) {
  gpu().insert(gpu().card());
  return run_train_job(job, device, [](const Event&) {});
}

inline const std::vector<std::string> kModes = {"32-true", "16-mixed",  "bf16-mixed",
                                                "16-true", "bf16-true", "64-true"};

}  // namespace precbench::train::simulated
