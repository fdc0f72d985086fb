#include "bench/stats/significance.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace precbench {

Spread welch_spread(const Estimate& denominator, const Estimate& numerator) {
  const auto squared = [](const Estimate& side) {
    const double relative = *side.std / side.mean;
    return relative * relative / static_cast<double>(side.n);
  };
  const double a = squared(denominator), b = squared(numerator);
  const double degrees =
      denominator.degrees_of_freedom + numerator.degrees_of_freedom;  // of equal spreads
  if (a + b == 0) return {0, degrees};
  return {a + b,
          (a + b) * (a + b) /
              (a * a / denominator.degrees_of_freedom + b * b / numerator.degrees_of_freedom)};
}

double half_width(const Spread& spread, double confidence) {
  const boost::math::students_t distribution(spread.degrees);
  return boost::math::quantile(distribution, 0.5 + confidence / 2) *
         std::sqrt(spread.squared_error);
}

double two_sided_error(double difference, const Spread& spread) {
  if (difference == 0) return 1;
  if (spread.squared_error == 0) return 0;
  const boost::math::students_t distribution(spread.degrees);
  const double t = std::abs(difference) / std::sqrt(spread.squared_error);
  return 2 * boost::math::cdf(boost::math::complement(distribution, t));
}

double largest_accepted(std::vector<double> errors, double error) {
  std::sort(errors.begin(), errors.end());
  double accepted = -1;
  for (size_t i = 0; i < errors.size(); ++i) {
    if (errors[i] > error / static_cast<double>(errors.size() - i)) break;
    accepted = errors[i];
  }
  return accepted;
}

std::optional<Trend> common_trend(const std::vector<Point>& points) {
  size_t groups = 0;
  for (const Point& point : points) groups = std::max(groups, point.group + 1);
  std::vector<double> x(groups), y(groups), n(groups);
  for (const Point& point : points) {
    x[point.group] += point.x;
    y[point.group] += point.y;
    n[point.group] += 1;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const Point& point : points) {
    const double dx = point.x - x[point.group] / n[point.group];
    const double dy = point.y - y[point.group] / n[point.group];
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  const auto filled = std::count_if(n.begin(), n.end(), [](double count) { return count > 0; });
  const double degrees = static_cast<double>(points.size()) - static_cast<double>(filled) - 1;
  if (degrees < 3 || xx == 0) return std::nullopt;
  const double slope = xy / xx;
  const double left = std::max(yy - slope * xy, 0.0) / degrees;
  return Trend{slope, two_sided_error(slope, {left / xx, degrees})};
}

}  // namespace precbench
