// What the worker's tests share.
#pragma once

#include <ATen/Version.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "../small_job.h"
#include "common/modes.h"
#include "train/base/torch.h"
#include "train/device/counting_allocator.h"
#include "train/device/cpu_device.h"
#include "train/loop/train_job.h"
#include "train/models/model.h"
#include "train/precision/precision.h"

namespace precbench::train {

// As the worker does first of all; every test binary's memory figures rest on it.
inline const bool kCountingAllocatorInstalled = [] {
  CountingAllocator::install();
  return true;
}();

// Whether PyTorch's kernels here multiply and add with one rounding, as those that printed the
// tests' bit patterns did. Without FMA the last bit may be another, here and in Python alike
// (tests/parity compares the two on one machine).
inline bool has_fma_kernels() { return at::get_cpu_capability() != "DEFAULT"; }

// A fixed input for a model of one or two layers.
inline torch::Tensor ramp(at::IntArrayRef shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return torch::linspace(-1, 1, count).view(shape);
}

// Calls back with what its forward pass gets and returns.
class LinearModel : public Model {
 public:
  LinearModel(int64_t in, int64_t out) {
    linear = register_module("linear", torch::nn::Linear(in, out));
  }
  torch::Tensor forward(const torch::Tensor& input) override {
    const torch::Tensor output = linear->forward(input);
    if (on_forward) on_forward(input, output);
    return output;
  }

  torch::nn::Linear linear{nullptr};
  std::function<void(const torch::Tensor& input, const torch::Tensor& output)> on_forward;
};

inline std::unique_ptr<Precision> precision_of(const std::string& mode) {
  return make_precision(*find_mode(mode), at::kCPU);
}

inline TrainResult run(
    const TrainJob& job, const EventSink& emit = [](const Event&) {}) {
  at::set_num_threads(1);
  CpuDevice device;
  return run_train_job(job, device, emit);
}

inline const std::vector<std::string> kCpuModes = {"32-true", "16-mixed",  "bf16-mixed",
                                                   "16-true", "bf16-true", "64-true"};

}  // namespace precbench::train
