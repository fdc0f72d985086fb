#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/stats/outliers.h"

namespace precbench::stats_outliers_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Median 11, deviations 1 0 1 2 9, their median 1: the score of 20 is 0.6745 * 9 / 1.
TEST(ModifiedZScores, OfAKnownSample) {
  const auto scores = modified_z_scores(std::vector<double>{10, 11, 12, 9, 20});
  EXPECT_NEAR(scores[4], 0.6745 * 9, 1e-9);
  EXPECT_NEAR(scores[0], -0.6745, 1e-9);
}

TEST(ModifiedZScores, FallBackOnTheMeanDeviation) {
  // Deviations 0 0 0 0 10: mean 2, score 10 / (1.253314 * 2).
  const auto scores = modified_z_scores(std::vector<double>{5, 5, 5, 5, 15});
  EXPECT_NEAR(scores[4], 10 / (1.253314 * 2), 1e-9);
}

TEST(ModifiedZScores, OfEqualValuesAreZero) {
  EXPECT_THAT(modified_z_scores(std::vector<double>{5, 5, 5}), Each(0.0));
}

TEST(Outliers, NamesTheSlowRun) {
  EXPECT_THAT(outliers(std::vector<double>{10.0, 10.1, 9.9, 14.0, 10.05}), ElementsAre(3));
}

// A score of 6.7, but 0.2 % from the median: nobody cares.
TEST(Outliers, LeavesOutWhatIsTooSmallToMatter) {
  EXPECT_THAT(outliers(std::vector<double>{10.0, 10.001, 9.999, 10.02, 10.0005}), IsEmpty());
}

TEST(Outliers, NeedsFiveValues) {
  EXPECT_THAT(outliers(std::vector<double>{10.0, 10.1, 9.9, 20.0}), IsEmpty());
}

}  // namespace
}  // namespace precbench::stats_outliers_test
