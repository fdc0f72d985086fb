#include "bench/stats/estimate.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace precbench {
namespace {

// From the first value on, so that the mean of equal values is that value.
double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value - values.front();
  return values.front() + sum / static_cast<double>(values.size());
}

double squared_deviations(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

double t_quantile(double degrees_of_freedom, double confidence) {
  const boost::math::students_t distribution(degrees_of_freedom);
  return boost::math::quantile(distribution, 0.5 + confidence / 2);
}

// Squared standard error of a mean, and Welch-Satterthwaite's degrees of freedom of a sum of two.
double squared_error(double std, int64_t n) { return std * std / static_cast<double>(n); }

double welch_degrees(double a, double a_degrees, double b, double b_degrees) {
  return (a + b) * (a + b) / (a * a / a_degrees + b * b / b_degrees);
}

}  // namespace

std::optional<Estimate> estimate(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  Estimate result;
  result.mean = mean_of(values);
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  result.min = *min;
  result.max = *max;
  result.n = static_cast<int64_t>(values.size());
  if (result.n > 1) {
    result.degrees_of_freedom = static_cast<double>(result.n - 1);
    result.std = std::sqrt(squared_deviations(values) / result.degrees_of_freedom);
  }
  return result;
}

std::optional<Estimate> estimate_within(const std::vector<std::vector<double>>& groups) {
  std::vector<double> all;
  double squares = 0;
  int64_t filled = 0;
  for (const auto& group : groups) {
    if (group.empty()) continue;
    all.insert(all.end(), group.begin(), group.end());
    squares += squared_deviations(group);
    ++filled;
  }
  auto result = estimate(all);
  if (!result || result->n == filled) return result;
  result->degrees_of_freedom = static_cast<double>(result->n - filled);
  result->std = std::sqrt(squares / result->degrees_of_freedom);
  return result;
}

std::optional<Interval> t_interval(const Estimate& estimate, double confidence) {
  if (!estimate.std) return std::nullopt;
  const double half = t_quantile(estimate.degrees_of_freedom, confidence) *
                      std::sqrt(squared_error(*estimate.std, estimate.n));
  return Interval{estimate.mean - half, estimate.mean + half};
}

std::optional<Ratio> ratio_of(const Estimate& numerator, const Estimate& denominator,
                              double confidence) {
  if (!(numerator.mean > 0) || !(denominator.mean > 0)) return std::nullopt;
  Ratio result;
  result.ratio = numerator.mean / denominator.mean;
  if (!numerator.std || !denominator.std) return result;
  const double a_std = *numerator.std / numerator.mean;
  const double b_std = *denominator.std / denominator.mean;
  result.error = result.ratio * std::hypot(a_std, b_std);
  // On the logarithm, where the ratio is a difference and its relative errors add (delta method).
  const double a = squared_error(a_std, numerator.n);
  const double b = squared_error(b_std, denominator.n);
  if (a + b == 0) {
    result.interval = Interval{result.ratio, result.ratio};
    return result;
  }
  const double degrees =
      welch_degrees(a, numerator.degrees_of_freedom, b, denominator.degrees_of_freedom);
  const double half = t_quantile(degrees, confidence) * std::sqrt(a + b);
  result.interval = Interval{result.ratio * std::exp(-half), result.ratio * std::exp(half)};
  return result;
}

std::optional<Estimate> paired_differences(const std::map<int64_t, double>& values,
                                           const std::map<int64_t, double>& reference) {
  std::vector<double> differences;
  for (const auto& [seed, value] : values) {
    if (const auto other = reference.find(seed); other != reference.end()) {
      differences.push_back(value - other->second);
    }
  }
  return estimate(differences);
}

std::optional<Interval> difference_interval(const Estimate& values, const Estimate& reference,
                                            double confidence) {
  if (!values.std || !reference.std) return std::nullopt;
  const double difference = values.mean - reference.mean;
  const double a = squared_error(*values.std, values.n);
  const double b = squared_error(*reference.std, reference.n);
  if (a + b == 0) return Interval{difference, difference};
  const double degrees =
      welch_degrees(a, values.degrees_of_freedom, b, reference.degrees_of_freedom);
  const double half = t_quantile(degrees, confidence) * std::sqrt(a + b);
  return Interval{difference - half, difference + half};
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace precbench
