// The largest batch that fits.
#pragma once

#include <cstdint>
#include <functional>

namespace precbench::train {

inline constexpr int64_t kLargestBatchTried = int64_t{1} << 22;

// Doubles from `start` while it fits, halves while it does not, then bisects: the batch that is
// returned fits and the next does not, whether or not `fits` is monotone in between. 0 where not
// even one sample fits; kLargestBatchTried where that one still does.
int64_t largest_batch(int64_t start, const std::function<bool(int64_t batch)>& fits);

}  // namespace precbench::train
