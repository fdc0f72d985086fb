// How sure a difference of means is, alone and among others.
#pragma once

#include <vector>

#include "bench/stats/estimate.h"

namespace precbench {

struct Spread {
  double squared_error = 0;  // of the difference
  double degrees = 0;        // of freedom; 0: nothing is known
};

// Of the logarithm of a ratio of two means, where relative errors add (delta method), with
// Welch-Satterthwaite's degrees of freedom. Both must have a std.
Spread welch_spread(const Estimate& denominator, const Estimate& numerator);

// Half of Student's interval.
double half_width(const Spread& spread, double confidence);

// The probability of a difference of that size or more, either way, by chance.
double two_sided_error(double difference, const Spread& spread);

// Holm (1979): the largest of the errors that still counts as established when all of them were
// tried, so that any false one among them is found with probability `error` at most. Negative when
// none does.
double largest_accepted(std::vector<double> errors, double error);

// A straight line through the values of several groups, each with a level of its own.
struct Trend {
  double slope = 0;  // per unit of x
  double error = 1;  // the probability of such a slope, either way, where there is none
};

// Nothing with fewer than three degrees of freedom, or where x does not vary.
struct Point {
  size_t group;
  double x, y;
};
std::optional<Trend> common_trend(const std::vector<Point>& points);

}  // namespace precbench
