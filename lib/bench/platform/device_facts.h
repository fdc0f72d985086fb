// What a verdict is decided on: facts of the device and of the LibTorch that drives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/platform/cpu.h"
#include "common/json_fields.h"

namespace precbench {

struct DeviceFacts {
  std::string kind = "cpu";    // cpu | cuda | simulated
  std::string name;            // as the driver calls it; decides nothing
  int compute_capability = 0;  // major * 10 + minor; 0 on a CPU or when unknown
  std::optional<int64_t> memory_bytes;
  // Compute capabilities that the LibTorch holds kernels for (sm_75 is 75), and those that it holds
  // portable code for, which the driver compiles for newer cards. Both empty = unknown.
  std::vector<int> binary_architectures;
  std::vector<int> portable_architectures;
  std::string libtorch_version;
  CpuFacts cpu;
};

// "7.5"; empty for 0.
std::string compute_capability_text(int compute_capability);

// 75 of "7.5", 0 of anything else.
int compute_capability_number(const std::string& text);

// From the facts of a describe job (its `devices` and `libtorch`): the device of that name ("cpu",
// "cuda:0", "simulated:t4"). The CPU's own facts come from `cpu`. Throws DeviceError when the
// worker does not list such a device.
DeviceFacts device_facts_from(const json& worker_facts, const std::string& device,
                              const CpuFacts& cpu);

}  // namespace precbench
