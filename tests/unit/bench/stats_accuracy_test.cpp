#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bench/judge/judge.h"
#include "bench/stats/accuracy.h"

namespace precbench::stats_accuracy_test {
namespace {

TEST(DifferenceError, IsThatOfTwoBinomials) {
  // sqrt(2 * 0.8 * 0.2 / 1000) and sqrt((0.9 * 0.1 + 0.5 * 0.5) / 10000)
  EXPECT_NEAR(difference_error(0.8, 0.8, 1000), 0.0178885, 1e-7);
  EXPECT_NEAR(difference_error(0.9, 0.5, 10000), 0.0058310, 1e-7);
  EXPECT_EQ(difference_error(1.0, 0.0, 10), 0);
}

TEST(DifferenceError, TakesSharesOnly) { EXPECT_EQ(difference_error(5, -1, 10), 0); }

TEST(TestSetNoise, IsNothingForAnUnknownTestSet) {
  EXPECT_NEAR(test_set_noise(0.8, 0.8, 1000), 0.0350615, 1e-6);
  EXPECT_EQ(test_set_noise(0.8, 0.8, std::nullopt), 0);
}

// McNemar's statistic of b answers that changed, all to one side, is b; 3.84 at 95 %.
TEST(IsOfFewSamples, UpToThree) {
  EXPECT_TRUE(is_of_few_samples(-0.003, 1000));
  EXPECT_FALSE(is_of_few_samples(0.004, 1000));
}

TEST(OneSeedBound, IsTwoPointsAtLeast) {
  EXPECT_EQ(one_seed_bound(0.8, 0.8, 10000), kOneSeedAccuracy);
  EXPECT_EQ(one_seed_bound(0.8, 0.8, std::nullopt), kOneSeedAccuracy);
  EXPECT_NEAR(one_seed_bound(0.8, 0.8, 1000), 0.0350615, 1e-6);
}

// Two models that answer alike but for luck, in the worst case: each draws on its own.
TEST(OneSeedBound, FindsALossWhereThereIsNoneInFewerThanThreeOfAHundred) {
  std::mt19937_64 random(1);
  for (const int64_t samples : {250, 1000, 10000}) {
    const auto share_right = [&] {
      int64_t right = 0;
      for (int64_t i = 0; i < samples; ++i) right += random() % 10 < 8 ? 1 : 0;
      return static_cast<double>(right) / static_cast<double>(samples);
    };
    int losses = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      const double base = share_right(), current = share_right();
      losses += base - current >= one_seed_bound(base, current, samples) ? 1 : 0;
    }
    EXPECT_LE(losses, 36) << samples;  // 2.5 % and two standard errors of 1,000 trials
  }
}

}  // namespace
}  // namespace precbench::stats_accuracy_test
