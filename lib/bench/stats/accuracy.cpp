#include "bench/stats/accuracy.h"

#include <algorithm>
#include <cmath>

namespace precbench {
namespace {

// 95 % of a normal distribution lie within this many standard deviations.
constexpr double kNormal95 = 1.96;

// The 95 % quantile of chi-squared with one degree of freedom.
constexpr double kMcNemar = 3.841;

}  // namespace

double difference_error(double p, double q, int64_t samples) {
  const auto variance = [](double share) {
    const double within = std::clamp(share, 0.0, 1.0);  // files from elsewhere hold anything
    return within * (1 - within);
  };
  return std::sqrt((variance(p) + variance(q)) / static_cast<double>(samples));
}

double test_set_noise(double p, double q, const std::optional<int64_t>& samples) {
  return samples ? kNormal95 * difference_error(p, q, *samples) : 0;
}

bool is_of_few_samples(double difference, int64_t samples) {
  return std::abs(difference) * static_cast<double>(samples) < kMcNemar;
}

}  // namespace precbench
