// The largest batch that fits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace precbench::train {

inline constexpr int64_t kLargestBatchTried = int64_t{1} << 20;

// The batch that is returned fits and the next does not, whether or not memory grows steadily in
// between. 0 where not even one sample fits; kLargestBatchTried where that one still does.
// `peak_of` is the peak in bytes, nothing where the batch does not fit. Training steps of large
// models take their time, so few sizes are tried: where a straight line through the last two peaks
// meets `limit_bytes`, then its neighbours at growing distance.
int64_t largest_batch(int64_t start, int64_t limit_bytes,
                      const std::function<std::optional<int64_t>(int64_t batch)>& peak_of);

}  // namespace precbench::train
