#include "bench/stats/outliers.h"

#include <cmath>
#include <numeric>

#include "bench/stats/estimate.h"

namespace precbench {
namespace {

// Both make the deviation an estimate of a normal sample's standard deviation.
constexpr double kMedianScale = 0.6745;
constexpr double kMeanScale = 1.253314;

}  // namespace

std::vector<double> modified_z_scores(std::span<const double> values) {
  std::vector<double> scores(values.size(), 0.0);
  if (values.empty()) return scores;
  const double median = median_of({values.begin(), values.end()});
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - median));
  double scale = median_of(deviations) / kMedianScale;
  if (scale == 0) {
    scale = kMeanScale * std::accumulate(deviations.begin(), deviations.end(), 0.0) /
            static_cast<double>(deviations.size());
  }
  if (scale == 0) return scores;
  for (size_t i = 0; i < values.size(); ++i) scores[i] = (values[i] - median) / scale;
  return scores;
}

std::vector<size_t> outliers(std::span<const double> values, double share) {
  std::vector<size_t> found;
  if (values.size() < kFewestForOutliers) return found;
  const double median = median_of({values.begin(), values.end()});
  const std::vector<double> scores = modified_z_scores(values);
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_far = std::abs(values[i] - median) >= share * std::abs(median);
    if (std::abs(scores[i]) > kOutlierScore && is_far) found.push_back(i);
  }
  return found;
}

}  // namespace precbench
