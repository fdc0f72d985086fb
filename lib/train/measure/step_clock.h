// The time of every optimizer step, from events that are read only when the device is idle.
#pragma once

#include <memory>
#include <vector>

#include "common/run_record.h"
#include "train/cuda/device_module.h"

namespace precbench::train {

class StepClock {
 public:
  explicit StepClock(DeviceModule& device) : device_(device) {}

  void begin_step() { begins_.push_back(device_.record_event()); }
  void end_step() { ends_.push_back(device_.record_event()); }

  // Reads the events of finished steps. The device must be synchronised.
  void read_events();

  // Milliseconds of each step, from step 0.
  const std::vector<double>& milliseconds() const { return milliseconds_; }

 private:
  DeviceModule& device_;
  std::vector<std::unique_ptr<DeviceEvent>> begins_, ends_;
  std::vector<double> milliseconds_;
};

// Mean, median and 95th percentile of all steps but the first, which pays for one-time set-up.
// Percentiles are interpolated linearly, as numpy.percentile. Nothing where there is only one step.
StepTimes summarize_steps(const std::vector<double>& milliseconds);

}  // namespace precbench::train
