#include "train/predict/largest_batch.h"

#include <algorithm>

namespace precbench::train {
namespace {

// Memory is not always a line; then the middle halves what is open.
constexpr int kLines = 16;
// Two sizes between which there is so large a part of them make a line.
constexpr int64_t kFarApart = 16;

struct Peak {
  int64_t batch = 0, bytes = 0;
};

class Search {
 public:
  explicit Search(int64_t limit_bytes) : limit_(limit_bytes) {}

  int64_t fits() const { return upper_.batch; }
  bool is_done() const { return fails_ - upper_.batch <= 1; }

  void note(int64_t batch, std::optional<int64_t> bytes) {
    if (bytes) {
      // Peaks of neighbours tell nothing of how memory grows.
      if (batch - upper_.batch > batch / kFarApart) lower_ = upper_;
      upper_ = {batch, *bytes};
    } else {
      fails_ = batch;
    }
  }

  int64_t next() {
    int64_t batch = upper_.batch + (fails_ - upper_.batch) / 2;
    if (upper_.batch == 0) {
      batch = fails_ / 2;
    } else if (++tries_ <= kLines) {
      const double line = on_the_line();
      const bool is_open =
          line >= static_cast<double>(upper_.batch + 1) && line < static_cast<double>(fails_);
      batch = is_open ? static_cast<int64_t>(line) : beside(line);
    }
    return std::clamp(batch, upper_.batch + 1, fails_ - 1);
  }

 private:
  // Before there are two peaks, the line goes through nothing for no sample: lower than it is.
  double on_the_line() const {
    const auto bytes = static_cast<double>(upper_.bytes - lower_.bytes);
    const auto samples = static_cast<double>(upper_.batch - lower_.batch);
    const auto left = static_cast<double>(limit_ - upper_.bytes);
    return static_cast<double>(upper_.batch) + left * samples / std::max(bytes, 1.0);
  }

  // The line ends where the answer is known already: a step further, each twice the last.
  int64_t beside(double line) {
    const int64_t step = step_;
    step_ *= 2;
    const bool is_above = line >= static_cast<double>(fails_);
    if (is_above && fails_ > kLargestBatchTried) return kLargestBatchTried;
    if (2 * step > fails_ - upper_.batch) return upper_.batch + (fails_ - upper_.batch) / 2;
    return is_above ? fails_ - step : upper_.batch + step;
  }

  int64_t limit_;
  Peak lower_, upper_;  // of the last two that fit; no sample takes nothing
  int64_t fails_ = kLargestBatchTried + 1;
  int64_t step_ = 1;
  int tries_ = 0;
};

}  // namespace

int64_t largest_batch(int64_t start, int64_t limit_bytes,
                      const std::function<std::optional<int64_t>(int64_t batch)>& peak_of) {
  Search search(limit_bytes);
  for (int64_t batch = std::clamp<int64_t>(start, 1, kLargestBatchTried);; batch = search.next()) {
    search.note(batch, peak_of(batch));
    if (search.is_done()) return search.fits();
  }
}

}  // namespace precbench::train
