// What vendors promise: dense matrix products without sparsity, at boost clock.
#pragma once

#include <optional>
#include <string_view>

namespace precbench {

// TFLOP/s of `format` (float64, float32, tf32, float16, bfloat16, float8) on the device that the
// driver calls exactly so; nothing for any other name: an L40S is no L4, and a card of another form
// factor has another clock.
std::optional<double> data_sheet_tflops(std::string_view device, std::string_view format);

}  // namespace precbench
