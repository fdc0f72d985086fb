// What no card of a simulated device's data sheet could do the last step in.
#pragma once

#include <optional>

#include "train/device/device_module.h"
#include "train/measure/observer.h"

namespace precbench::train {

class LeastTime : public Observer {
 public:
  explicit LeastTime(const DeviceModule& device) : device_(device) {}

  void before_step(int64_t /*step*/) override { before_s_ = device_.least_busy_seconds(); }
  void after_step(Step& /*step*/) override {
    if (before_s_) step_s_ = *device_.least_busy_seconds() - *before_s_;
  }

  std::optional<double> step_s() const { return step_s_; }  // nothing on a real device

 private:
  const DeviceModule& device_;
  std::optional<double> before_s_, step_s_;
};

}  // namespace precbench::train
