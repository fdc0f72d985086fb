#include "bench/run/batch_search.h"

#include <algorithm>

namespace precbench {
namespace {

// Where the line through the two largest peaks that are known meets the limit.
std::optional<int64_t> on_the_line(const std::vector<BatchTrial>& trials, int64_t limit) {
  const BatchTrial* upper = nullptr;
  const BatchTrial* lower = nullptr;
  for (const BatchTrial& trial : trials) {
    if (!trial.fits || !trial.peak_bytes) continue;
    if (upper == nullptr || trial.batch_size > upper->batch_size) {
      lower = upper;
      upper = &trial;
    } else if (lower == nullptr || trial.batch_size > lower->batch_size) {
      lower = &trial;
    }
  }
  if (lower == nullptr || *upper->peak_bytes <= *lower->peak_bytes) return std::nullopt;
  const double slope = static_cast<double>(*upper->peak_bytes - *lower->peak_bytes) /
                       static_cast<double>(upper->batch_size - lower->batch_size);
  return upper->batch_size +
         static_cast<int64_t>(static_cast<double>(limit - *upper->peak_bytes) / slope);
}

// `fits` and `fails` enclose what is open; the answer lies strictly between them.
int64_t next_size(int64_t fits, int64_t fails, const BatchSearch& search,
                  std::optional<int64_t> limit, bool bounded) {
  const auto guess = limit ? on_the_line(search.trials, *limit) : std::nullopt;
  const int64_t fallback = bounded ? fits + (fails - fits) / 2 : fits * 2;
  const bool is_open = guess && *guess > fits && *guess < fails;
  // A line that ends beyond the data is right about there.
  const int64_t size = is_open || (guess && !bounded) ? *guess : fallback;
  return std::clamp(size, fits + 1, fails - 1);
}

}  // namespace

BatchSearch find_largest_batch(int64_t first, int64_t most, std::optional<int64_t> limit_bytes,
                               const std::function<BatchTrial(int64_t batch_size)>& attempt) {
  BatchSearch search;
  int64_t fits = 0;
  int64_t fails = most + 1;
  int64_t size = std::clamp<int64_t>(first, 1, most);
  int64_t lines = 0;
  while (fits + 1 < fails) {
    const BatchTrial trial = attempt(size);
    search.trials.push_back(trial);
    if (trial.fits) {
      fits = trial.batch_size;
      search.largest = trial;
    } else {
      fails = trial.batch_size;
      search.too_large = trial;
    }
    if (fits + 1 >= fails) break;
    // Memory is not always a line; the middle then halves what is open.
    constexpr int64_t kLines = 12;
    const bool straight = ++lines <= kLines;
    size = next_size(std::max<int64_t>(fits, 0), fails, search,
                     straight ? limit_bytes : std::nullopt, search.too_large.has_value());
  }
  return search;
}

}  // namespace precbench
