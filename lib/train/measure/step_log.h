// What every optimizer step left behind: loss and scaler, written on the device without waiting and
// read back in batches. Weights are looked at when that is done.
#pragma once

#include <vector>

#include "train/base/run_state.h"
#include "train/base/torch.h"
#include "train/device/device_module.h"
#include "train/measure/observer.h"
#include "train/measure/step_clock.h"

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

  // What has been read back.
  void exchange(RunState& state);

  // Steps read back so far, from step 0.
  const std::vector<StepRecord>& steps() const { return steps_; }

 private:
  DeviceModule& device_;
  torch::Tensor pending_;  // float32 [capacity, fields]
  int64_t pending_count_ = 0;
  double last_read_s_ = device_.host_seconds();
  std::vector<StepRecord> steps_;
};

// Reads the log back when it is due, and looks at the weights then.
class StepLogReader : public Observer {
 public:
  // `reads_every_step`: somebody has to know of each step before the next.
  StepLogReader(DeviceModule& device, const Optimizer& optimizer, StepLog& log, StepClock& clock,
                bool reads_every_step)
      : device_(device),
        optimizer_(optimizer),
        log_(log),
        clock_(clock),
        reads_every_step_(reads_every_step) {}

  void after_step(Step& /*step*/) override {
    if (reads_every_step_ || log_.is_due()) clock_.pause([this] { read(); });
  }
  void after_epoch(bool /*is_last*/) override { read(); }

 private:
  void read() { log_.read_back(device_.any_non_finite(optimizer_.parameters())); }

  DeviceModule& device_;
  const Optimizer& optimizer_;
  StepLog& log_;
  StepClock& clock_;
  bool reads_every_step_;
};

}  // namespace precbench::train
