#include <gtest/gtest.h>

#include <cmath>

#include "bench/stats/estimate.h"

namespace precbench::stats_estimate_test {
namespace {

// 1 2 3 4 5: mean 3, sum of squares 10, variance 10 / 4.
TEST(Estimate, OfOneToFive) {
  const std::vector<double> values = {5, 1, 4, 2, 3};
  const auto result = estimate(values);
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->mean, 3);
  EXPECT_DOUBLE_EQ(*result->std, std::sqrt(2.5));
  EXPECT_EQ(result->min, 1);
  EXPECT_EQ(result->max, 5);
  EXPECT_EQ(result->n, 5);
}

TEST(Estimate, OfNothingIsNothing) { EXPECT_FALSE(estimate({})); }

TEST(Estimate, OfOneValueHasNoSpreadAndNoInterval) {
  const auto result = estimate(std::vector<double>{7});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->std);
  EXPECT_FALSE(t_interval(*result));
}

// t(0.975, 4) = 2.776445 (any table); half width = t * sqrt(2.5) / sqrt(5) = 1.963243.
TEST(TInterval, MatchesTheTable) {
  const auto interval = t_interval(*estimate(std::vector<double>{1, 2, 3, 4, 5}));
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 3 - 1.963243, 1e-6);
  EXPECT_NEAR(interval->high, 3 + 1.963243, 1e-6);
}

// Two seeds far apart, repeats close together: the spread is that of the repeats. Squares 0.5 + 0.5
// over 4 - 2 degrees of freedom.
TEST(EstimateWithin, DoesNotCountWhatDiffersBetweenSeeds) {
  const auto result = estimate_within({{10, 11}, {20, 21}});
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->mean, 15.5);
  EXPECT_DOUBLE_EQ(*result->std, std::sqrt(0.5));
  EXPECT_EQ(result->degrees_of_freedom, 2);
  EXPECT_EQ(result->n, 4);
}

TEST(EstimateWithin, TakesSeedsWithoutRepeatsAsOneSample) {
  const auto result = estimate_within({{1}, {2}, {3}});
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(*result->std, 1);
  EXPECT_EQ(result->degrees_of_freedom, 2);
}

// 3 % and 4 % of relative std propagate to 5 %: 0.5 * 0.05.
TEST(RatioOf, PropagatesTheRelativeErrors) {
  const Estimate numerator{100, 0, 0, 5, 3.0, 4};
  const Estimate denominator{200, 0, 0, 5, 8.0, 4};
  const auto ratio = ratio_of(numerator, denominator);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->ratio, 0.5);
  EXPECT_NEAR(*ratio->error, 0.025, 1e-12);
}

// Equal n and relative stds: Welch's degrees of freedom are 2 (n - 1) = 8, t(0.975, 8) = 2.306004,
// half = t * 0.03 * sqrt(2 / 5) = 0.0437535 on the logarithm.
TEST(RatioOf, WelchIntervalOfEqualSpreads) {
  const Estimate both{100, 0, 0, 5, 3.0, 4};
  const auto ratio = ratio_of(both, both);
  ASSERT_TRUE(ratio && ratio->interval);
  EXPECT_NEAR(std::log(ratio->interval->high), 0.0437535, 1e-6);
  EXPECT_NEAR(std::log(ratio->interval->low), -0.0437535, 1e-6);
}

TEST(RatioOf, ExactValuesHaveAnIntervalOfNoWidth) {
  const Estimate a{110, 110, 110, 3, 0.0, 2}, b{100, 100, 100, 3, 0.0, 2};
  const auto ratio = ratio_of(a, b);
  ASSERT_TRUE(ratio && ratio->interval);
  EXPECT_DOUBLE_EQ(ratio->interval->low, 1.1);
  EXPECT_DOUBLE_EQ(ratio->interval->high, 1.1);
}

TEST(RatioOf, NothingWithoutAPositiveBase) {
  const Estimate zero{0, 0, 0, 1, std::nullopt, 0}, one{1, 1, 1, 1, std::nullopt, 0};
  EXPECT_FALSE(ratio_of(one, zero));
  EXPECT_FALSE(ratio_of(zero, one));
}

// Differences by seed 0.01, 0.03: mean 0.02, std sqrt(0.0002); seed 3 has no partner.
TEST(PairedDifferences, PairsBySeed) {
  const auto result = paired_differences({{1, 0.51}, {2, 0.83}, {3, 0.9}}, {{1, 0.50}, {2, 0.80}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->n, 2);
  EXPECT_NEAR(result->mean, 0.02, 1e-12);
  EXPECT_NEAR(*result->std, std::sqrt(0.0002), 1e-12);
}

TEST(PairedDifferences, NothingWithoutACommonSeed) {
  EXPECT_FALSE(paired_differences({{1, 0.5}}, {{2, 0.5}}));
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace precbench::stats_estimate_test
