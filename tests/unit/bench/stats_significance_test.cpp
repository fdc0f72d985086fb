#include <gtest/gtest.h>

#include <cmath>

#include "bench/stats/significance.h"

namespace precbench::stats_significance_test {
namespace {

// Student's t: 2.571 with 5 degrees of freedom and 2.306 with 8 are the 95 % points of every table.
TEST(TwoSidedError, IsThatOfStudentsTable) {
  EXPECT_NEAR(two_sided_error(2.5706, {1, 5}), 0.05, 1e-5);
  EXPECT_NEAR(two_sided_error(-4.6120, {4, 8}), 0.05, 1e-5);  // 2.306 standard errors of 2
  EXPECT_EQ(two_sided_error(0, {0, 8}), 1);
  EXPECT_EQ(two_sided_error(0.1, {0, 8}), 0);
  EXPECT_NEAR(half_width({4, 8}, 0.95), 4.6120, 1e-4);
}

// Holm's procedure at 0.05: 0.01 <= 0.05/4, 0.015 <= 0.05/3, 0.03 > 0.05/2, and what follows is not
// looked at any more.
TEST(LargestAccepted, StopsAtTheFirstThatIsTooLarge) {
  EXPECT_EQ(largest_accepted({0.03, 0.01, 0.04, 0.015}, 0.05), 0.015);
  EXPECT_LT(largest_accepted({0.02, 0.2, 0.3}, 0.05), 0);
  EXPECT_EQ(largest_accepted({0.05}, 0.05), 0.05);
  EXPECT_LT(largest_accepted({}, 0.05), 0);
}

TEST(CommonTrend, FindsTheSlopeWhateverTheLevels) {
  std::vector<Point> points;
  for (size_t i = 0; i < 10; ++i) {
    const double x = static_cast<double>(i), noise = i % 2 == 0 ? 0.001 : -0.001;
    points.push_back({i % 3, x, 5.0 * static_cast<double>(i % 3) + 0.01 * x + noise});
  }
  const auto trend = common_trend(points);
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->slope, 0.01, 0.0005);
  EXPECT_LT(trend->error, 1e-5);
}

TEST(CommonTrend, NeedsEnoughPointsThatVary) {
  EXPECT_FALSE(common_trend({}));
  EXPECT_FALSE(common_trend({{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {0, 3, 4}}));  // 4 - 1 - 1 degrees
  EXPECT_FALSE(common_trend({{0, 1, 1}, {0, 1, 2}, {0, 1, 3}, {0, 1, 4}, {0, 1, 5}}));
}

}  // namespace
}  // namespace precbench::stats_significance_test
