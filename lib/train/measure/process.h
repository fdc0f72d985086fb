// What the kernel knows about this process.
#pragma once

#include <cstdint>
#include <optional>

namespace precbench::train {

// Seconds since this process was started, interpreter and loader included; to a clock tick (10 ms).
std::optional<double> seconds_since_process_start();

// The largest resident set so far (VmHWM), in bytes: everything, so an upper bound of what tensors
// took.
std::optional<int64_t> peak_resident_bytes();

}  // namespace precbench::train
