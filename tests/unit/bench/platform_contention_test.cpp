#include <gtest/gtest.h>

#include <cmath>

#include "bench/platform/contention.h"

namespace precbench::platform_contention_test {
namespace {

// Two processors, 100 ticks a second.
constexpr const char* kBefore =
    "cpu  1000 100 200 5000 50 10 20 30 40 0\n"
    "cpu0 500 50 100 2500 25 5 10 15 20 0\n";
// 10 s later: 2000 ticks more, 1200 of them busy: user 900, system 100, steal 200.
constexpr const char* kAfter =
    "cpu  1900 100 300 5790 60 10 20 230 940 0\n"
    "cpu0 950 50 150 2895 30 5 10 115 20 0\n";

TEST(ProcStat, AddsUpBusyAndIdleTime) {
  const CpuSnapshot snapshot = parse_proc_stat(kBefore, 100);
  EXPECT_EQ(snapshot.busy_ticks, 1000 + 100 + 200 + 10 + 20 + 30);  // guest is in user already
  EXPECT_EQ(snapshot.total_ticks, 1360 + 5000 + 50);
}

TEST(ProcStat, TakesOldKernelsWithFewerColumns) {
  EXPECT_EQ(parse_proc_stat("cpu 10 0 5 85\n", 100).total_ticks, 100);
}

TEST(ProcStat, KnowsNothingOfAnythingElse) {
  EXPECT_EQ(parse_proc_stat("", 100).total_ticks, 0);
  EXPECT_EQ(parse_proc_stat("cpu 1 2 x 4\n", 100).total_ticks, 0);
  EXPECT_EQ(parse_proc_stat("cpu -1 2 3 4\n", 100).total_ticks, 0);
  EXPECT_EQ(parse_proc_stat("cpu0 1 2 3 4\n", 100).total_ticks, 0);
}

TEST(Contention, LeavesToOthersWhatIsNotOurs) {
  const CpuSnapshot before = parse_proc_stat(kBefore, 100);
  const CpuSnapshot after = parse_proc_stat(kAfter, 100);
  // 1200 busy ticks of 2000 are 0.6; 8 s of our own are 800 ticks, so 400 of 2000 are theirs.
  EXPECT_DOUBLE_EQ(*share_of_others(before, after, 0), 0.6);
  EXPECT_DOUBLE_EQ(*share_of_others(before, after, 8), 0.2);
  EXPECT_EQ(busy_reason(before, after, 8), "others used 20 % of this machine's CPU time");
}

TEST(Contention, IsQuietUpToTheNamedShare) {
  const CpuSnapshot before = parse_proc_stat(kBefore, 100);
  const CpuSnapshot after = parse_proc_stat(kAfter, 100);
  EXPECT_EQ(busy_reason(before, after, 10.0), std::nullopt);  // 200 of 2000 = kBusyShare
  EXPECT_NE(busy_reason(before, after, 9.9), std::nullopt);   // 210 of 2000
}

TEST(Contention, NeverGoesBelowZeroWhenTicksLagBehindOurTime) {
  EXPECT_DOUBLE_EQ(
      *share_of_others(parse_proc_stat(kBefore, 100), parse_proc_stat(kAfter, 100), 13), 0.0);
}

TEST(Contention, SaysNothingOfTooShortATimeOrAnUnknownOne) {
  const CpuSnapshot before = parse_proc_stat("cpu 100 0 0 100\n", 100);
  EXPECT_EQ(share_of_others(before, parse_proc_stat("cpu 149 0 0 100\n", 100), 0), std::nullopt);
  EXPECT_NE(share_of_others(before, parse_proc_stat("cpu 150 0 0 100\n", 100), 0), std::nullopt);
  EXPECT_EQ(share_of_others(before, CpuSnapshot{}, 0), std::nullopt);
  EXPECT_EQ(share_of_others(before, parse_proc_stat("cpu 50 0 0 50\n", 100), 0), std::nullopt);
  EXPECT_EQ(share_of_others(before, parse_proc_stat("cpu 900 0 0 100\n", 100), NAN), std::nullopt);
}

TEST(Contention, ReadsThisMachine) {
  const CpuSnapshot first = read_cpu_snapshot();
  const CpuSnapshot second = read_cpu_snapshot();
  EXPECT_GT(first.total_ticks, 0);
  EXPECT_GE(second.total_ticks, first.total_ticks);
  EXPECT_GE(own_cpu_s(), 0);
}

}  // namespace
}  // namespace precbench::platform_contention_test
