// Mean and spread of repeated measurements, and the intervals that decide whether two of them
// differ. docs/statistics.md says which rule uses which.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace precbench {

// Coverage of every interval that a verdict rests on.
inline constexpr double kConfidence = 0.95;

struct Estimate {
  double mean = 0, min = 0, max = 0;
  int64_t n = 0;
  std::optional<double> std;      // sample standard deviation; nothing for a single value
  double degrees_of_freedom = 0;  // of std
};

struct Interval {
  double low = 0, high = 0;
};

// Nothing for an empty sample.
std::optional<Estimate> estimate(std::span<const double> values);

// The spread within groups (the repeats of one seed), whatever differs between them (seeds): mean
// over all values, std pooled over the groups with n - groups degrees of freedom. Groups of one
// value each say nothing about repeats: then the values are taken as one sample.
std::optional<Estimate> estimate_within(const std::vector<std::vector<double>>& groups);

// Student's interval of the mean; nothing without a std.
std::optional<Interval> t_interval(const Estimate& estimate, double confidence = kConfidence);

struct Ratio {
  double ratio = 1;
  std::optional<double> error;       // propagated from both stds, as hyperfine's "± "
  std::optional<Interval> interval;  // Welch's, of the ratio of the means
};

// numerator.mean / denominator.mean. Both means must be positive; otherwise nothing.
std::optional<Ratio> ratio_of(const Estimate& numerator, const Estimate& denominator,
                              double confidence = kConfidence);

// Differences of values that belong together (one per seed): spread and interval of the mean
// difference, over the seeds that both have. Nothing when they share none.
std::optional<Estimate> paired_differences(const std::map<int64_t, double>& values,
                                           const std::map<int64_t, double>& reference);

// Welch's interval of mean - reference.mean, for values that are not paired; nothing without stds.
std::optional<Interval> difference_interval(const Estimate& values, const Estimate& reference,
                                            double confidence = kConfidence);

double median_of(std::vector<double> values);  // values must not be empty

}  // namespace precbench
