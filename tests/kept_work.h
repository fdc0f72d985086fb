// What stands for a recorded graph where there is no GPU: the work itself, done again.
#pragma once

#include <functional>
#include <utility>

#include "train/device/device_module.h"

namespace precbench::train {

class KeptWork final : public DeviceGraph {
 public:
  explicit KeptWork(std::function<void()> work) : work_(std::move(work)) {}
  void replay() override { work_(); }

 private:
  std::function<void()> work_;
};

}  // namespace precbench::train
