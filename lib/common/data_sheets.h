// What vendors promise: dense matrix products without sparsity at boost clock, and memory.
#pragma once

#include <optional>
#include <string_view>

namespace precbench {

// TFLOP/s by format; 0 = the data sheet has no figure, or the card no such units.
struct DataSheet {
  std::string_view device;
  double float64, float32, tf32, float16, bfloat16, float8;
  double memory_gb_s;  // bandwidth of the card's memory, in 10^9 bytes a second
  double l2_mb;        // last cache before it, in 10^6 bytes
};

// Of the device that the driver calls exactly so; null for any other name: an L40S is no L4, and a
// card of another form factor has another clock.
const DataSheet* find_data_sheet(std::string_view device);

// TFLOP/s of `format` (float64, float32, tf32, float16, bfloat16, float8).
std::optional<double> data_sheet_tflops(std::string_view device, std::string_view format);

}  // namespace precbench
