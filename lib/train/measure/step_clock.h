// The time of every optimizer step, from events that are read only when the device is idle. A step
// begins where the one before ends, so that the steps of a pass are the whole pass but for its
// pauses.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/run_record.h"
#include "train/base/run_state.h"
#include "train/device/device_module.h"

namespace precbench::train {

class StepClock {
 public:
  explicit StepClock(DeviceModule& device) : device_(device) {}

  // Waits for the device. What follows belongs to the first step of a pass.
  void begin_pass();
  // And from now on to the next one.
  void end_step();
  // Waits for the device.
  void end_pass();

  // Does what is no part of training: the time is taken off that the device would not have spent
  // otherwise. That is what lies between two events of its own: while it is busy with earlier
  // steps, what the host does meanwhile costs nothing, and waiting for those steps is theirs.
  void pause(const std::function<void()>& work);

  // With the pass that goes on. Waits for the device.
  void exchange(RunState& state);

  // Milliseconds of each step of the passes that are over, from step 0, without pauses.
  const std::vector<double>& milliseconds() const { return milliseconds_; }
  double pass_s() const { return pass_s_; }  // the last pass, without pauses

 private:
  double read_events();  // returns seconds of pauses
  std::vector<double> milliseconds_of_pass(double& paused_s) const;

  using Event = std::unique_ptr<DeviceEvent>;
  struct Pause {
    size_t step;  // of the pass
    Event begin, end;
  };

  DeviceModule& device_;
  std::vector<Event> bounds_;  // between steps
  std::vector<Pause> pauses_;
  std::vector<double> milliseconds_;
  double begin_s_ = 0, pass_s_ = 0;
  double earlier_s_ = 0;  // of this pass, in a process before this one
};

// Mean, median and 95th percentile of all steps but the first, which pays for one-time set-up.
// Percentiles are interpolated linearly, as numpy.percentile. Nothing where there is only one step.
StepTimes summarize_steps(const std::vector<double>& milliseconds);

}  // namespace precbench::train
