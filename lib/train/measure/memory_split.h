// Tells a simulated device what its blocks hold, so that it can split its peak: which are weights,
// gradients, the optimizer's state. Does nothing on a real device.
#pragma once

#include <optional>

#include "common/json_fields.h"
#include "train/device/device_module.h"
#include "train/models/model.h"
#include "train/optim/optimizer.h"

namespace precbench::train {

class MemorySplit {
 public:
  // What is on the device now is the resident part.
  explicit MemorySplit(DeviceModule& device);

  // Parameters and buffers; gradients will be noted as they come.
  void note_model(Model& model);
  void note_optimizer(const Optimizer& optimizer);

  // MemoryProfile's breakdown with the exact figures of a simulated device: {"weights_bytes": 1024,
  // ...} of the highest peak, without the resident part. On a real device as it was.
  std::optional<json> refined(std::optional<json> breakdown) const;

 private:
  DeviceModule& device_;
};

}  // namespace precbench::train
