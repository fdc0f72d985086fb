#include "train/predict/largest_batch.h"

#include <algorithm>

namespace precbench::train {

int64_t largest_batch(int64_t start, const std::function<bool(int64_t)>& fits) {
  int64_t fitting = 0;
  int64_t too_large = kLargestBatchTried + 1;
  for (int64_t batch = std::clamp<int64_t>(start, 1, kLargestBatchTried); batch > fitting;) {
    if (fits(batch)) {
      fitting = batch;
      if (too_large <= kLargestBatchTried) break;
      batch = std::min(batch * 2, kLargestBatchTried);
    } else {
      too_large = batch;
      if (fitting > 0) break;
      batch /= 2;
    }
  }
  while (too_large - fitting > 1) {
    const int64_t middle = fitting + (too_large - fitting) / 2;
    (fits(middle) ? fitting : too_large) = middle;
  }
  return fitting;
}

}  // namespace precbench::train
