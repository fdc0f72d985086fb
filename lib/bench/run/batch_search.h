// The largest batch size that fits, found with few trials.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace precbench {

struct BatchTrial {
  int64_t batch_size = 0;
  bool fits = false;
  std::optional<int64_t> peak_bytes;  // of a trial that fits
  std::string reason;                 // of one that does not
};

struct BatchSearch {
  std::optional<BatchTrial> largest;    // that fits; nothing when not even one sample does
  std::optional<BatchTrial> too_large;  // the next size, which does not; nothing when all up to the
                                        // end of the data fit
  std::vector<BatchTrial> trials;       // in the order in which they were made
};

// Tries sizes from 1 to `most`. Assumes that what fits with a batch fits with a smaller one. The
// next size to try is where a straight line through the peaks so far meets `limit_bytes`, inside of
// what is still open; without a limit, twice or the middle.
BatchSearch find_largest_batch(int64_t first, int64_t most, std::optional<int64_t> limit_bytes,
                               const std::function<BatchTrial(int64_t batch_size)>& attempt);

}  // namespace precbench
