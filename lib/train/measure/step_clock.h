// The time of every optimizer step, from events that are read only when the device is idle. A step
// begins where the one before ends, so that the steps of a pass are the whole pass but for its
// pauses.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/run_record.h"
#include "train/cuda/device_module.h"

namespace precbench::train {

class StepClock {
 public:
  explicit StepClock(DeviceModule& device) : device_(device) {}

  // What follows belongs to the first step of a pass.
  void begin_pass();
  // And from now on to the next one.
  void end_step();

  // Does what is no part of training: the time is taken off that the device would not have spent
  // otherwise. That is what lies between two events of its own: while it is busy with earlier
  // steps, what the host does meanwhile costs nothing, and waiting for those steps is theirs.
  void pause(const std::function<void()>& work);

  // Reads the events of a pass that is over. The device must be synchronised.
  void read_events();

  // Milliseconds of each step, from step 0, without pauses.
  const std::vector<double>& milliseconds() const { return milliseconds_; }
  double paused_s() const { return paused_s_; }  // in all of the last pass that was read

 private:
  using Event = std::unique_ptr<DeviceEvent>;
  struct Pause {
    size_t step;  // of the pass
    Event begin, end;
  };

  DeviceModule& device_;
  std::vector<Event> bounds_;  // between steps
  std::vector<Pause> pauses_;
  std::vector<double> milliseconds_;
  double paused_s_ = 0;
};

// Mean, median and 95th percentile of all steps but the first, which pays for one-time set-up.
// Percentiles are interpolated linearly, as numpy.percentile. Nothing where there is only one step.
StepTimes summarize_steps(const std::vector<double>& milliseconds);

}  // namespace precbench::train
