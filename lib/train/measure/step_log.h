// What every optimizer step left behind: loss, scaler, weights. Written on the device without
// waiting, read back in batches.
#pragma once

#include <chrono>
#include <vector>

#include "train/cuda/device_module.h"
#include "train/precision/precision.h"
#include "train/torch.h"

namespace precbench::train {

struct StepRecord {
  double loss = 0;                  // unscaled
  bool skipped = false;             // by the scaler
  double scale = 0;                 // after the step; 0 without a scaler
  bool non_finite_weights = false;  // after the step
};

class StepLog {
 public:
  explicit StepLog(DeviceModule& device);

  // loss, non_finite_weights: float32 scalars on the device.
  void record(const torch::Tensor& loss, const StepOutcome& outcome,
              const torch::Tensor& non_finite_weights);

  // Reads back what is pending if the device's interval has passed or the buffer is full.
  void read_back_if_due();
  void read_back();

  // Steps read back so far, from step 0.
  const std::vector<StepRecord>& steps() const { return steps_; }

 private:
  DeviceModule& device_;
  torch::Tensor pending_;  // float32 [capacity, fields]
  int64_t pending_count_ = 0;
  std::chrono::steady_clock::time_point last_read_ = std::chrono::steady_clock::now();
  std::vector<StepRecord> steps_;
};

}  // namespace precbench::train
