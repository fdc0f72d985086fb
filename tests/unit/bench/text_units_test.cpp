#include <gtest/gtest.h>

#include "bench/text/units.h"

namespace precbench::text_units_test {
namespace {

TEST(DurationText, InTheUnitThatIsReadMostEasily) {
  EXPECT_EQ(duration_text(0.5), "0.50s");
  EXPECT_EQ(duration_text(59.994), "59.99s");
  EXPECT_EQ(duration_text(59.996), "1m 00s");
  EXPECT_EQ(duration_text(987.84), "16m 28s");
  EXPECT_EQ(duration_text(4992.44), "83m 12s");
  EXPECT_EQ(duration_text(1.7e308), "1.70e+308s");
  EXPECT_EQ(duration_text(7500), "2h 05m");
}

TEST(SpeedText, NeverSaysFractionsOfASpeed) {
  EXPECT_EQ(speed_text({987.84 / 3692.28, {}, {}}), "3.74x faster");
  EXPECT_EQ(speed_text({4992.44 / 3692.28, {}, {}}), "1.35x slower");
  EXPECT_EQ(speed_text({1.001, {}, {}}), "same speed");
}

// 1 / 0.5 = 2; the relative error 0.01 / 0.5 is 2 %, of 2 it is 0.04.
TEST(SpeedText, CarriesTheErrorOver) {
  EXPECT_EQ(speed_text({0.5, 0.01, {}}), "2.00 ± 0.04x faster");
  EXPECT_EQ(speed_text({1.001, 0.02, {}}), "1.00 ± 0.02x");  // no direction
}

TEST(ChangeText, HasASignUnlessItIsNone) {
  EXPECT_EQ(change_text(0.6363), "-36 %");
  EXPECT_EQ(change_text(1.2), "+20 %");
  EXPECT_EQ(change_text(0.9999), "0 %");
}

TEST(PointsText, OfAFraction) {
  EXPECT_EQ(points_text(-0.0122), "-1.22 pp");
  EXPECT_EQ(points_text(0.05), "+5.00 pp");
  EXPECT_EQ(points_text(-0.00001), "0.00 pp");
}

TEST(MebibytesText, KeepsDigitsOfSmallFigures) {
  EXPECT_EQ(mebibytes_text(5603.31 * 1048576), "5603");
  EXPECT_EQ(mebibytes_text(1.5 * 1048576), "1.50");
}

}  // namespace
}  // namespace precbench::text_units_test
