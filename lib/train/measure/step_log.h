// What every optimizer step left behind: loss and scaler, written on the device without waiting and
// read back in batches. Weights are looked at when that is done.
#pragma once

#include <vector>

#include "train/cuda/device_module.h"
#include "train/precision/precision.h"
#include "train/torch.h"

namespace precbench::train {

struct StepRecord {
  double loss = 0;                  // unscaled
  bool skipped = false;             // by the scaler
  double scale = 0;                 // after the step; 0 without a scaler
  bool non_finite_weights = false;  // after the step, where they were looked at
};

class StepLog {
 public:
  explicit StepLog(DeviceModule& device);

  // loss: a float32 scalar on the device.
  void record(const torch::Tensor& loss, const StepOutcome& outcome);

  // Whether the device's interval has passed or the buffer is full.
  bool is_due() const;
  // Reads back what is pending, waiting for the device. `non_finite_weights`: a float32 scalar on
  // the device, of the weights as they are now, after the last step.
  void read_back(const torch::Tensor& non_finite_weights = {});

  // Steps read back so far, from step 0.
  const std::vector<StepRecord>& steps() const { return steps_; }

 private:
  DeviceModule& device_;
  torch::Tensor pending_;  // float32 [capacity, fields]
  int64_t pending_count_ = 0;
  double last_read_s_ = device_.host_seconds();
  std::vector<StepRecord> steps_;
};

}  // namespace precbench::train
