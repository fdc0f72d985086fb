// The GPU of a comparison, watched run by run through the driver's management library
// (platform/nvml.h).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/platform/nvml.h"
#include "bench/worker/device_choice.h"

namespace precbench {

// The card that a worker calls `device` ("cuda:0"), as its describe job names it.
NvmlTarget nvml_target(const json& worker_facts, const std::string& device);

class GpuWatch {
 public:
  // On a CPU or a simulated device nothing is watched, and every figure is null with that reason.
  explicit GpuWatch(const DeviceChoice& device);

  // The driver's version ("580.65.06"), or nothing with the reason. Waits for NVML a few seconds at
  // most.
  std::optional<std::string> driver(std::string& reason);

  void begin();      // before a run
  NvmlReport end();  // after it: its `energy`, and the marks for its row

 private:
  std::string reason_;  // why nothing is watched
  std::unique_ptr<NvmlMonitor> monitor_;
};

}  // namespace precbench
