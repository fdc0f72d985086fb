#include <gtest/gtest.h>

#include <sstream>

#include "bench/run/progress.h"

namespace precbench::run_progress_test {
namespace {

OutputPlan plain_output() {
  OutputPlan output;
  output.progress = ProgressChoice::plain;
  return output;
}

// A run of `seconds` with a tick every 100 ms and a step every `step_s`; returns when each line was
// written.
std::vector<double> line_times(double seconds, double step_s) {
  Console console(plain_output());
  double now = 1000.0;
  Progress progress(console, "[1/1] 32-true", 128, [&] { return now; });
  std::vector<double> times;
  ::testing::internal::CaptureStderr();
  double next_step = step_s;
  int64_t step = 0;
  for (int tick = 1; tick <= static_cast<int>(seconds * 10); ++tick) {
    now = 1000.0 + tick * 0.1;
    if (now - 1000.0 >= next_step) {
      progress.take(StepsEvent{1, 1, ++step, 1000, 0.5});
      next_step += step_s;
    } else {
      progress.tick();
    }
    const std::string written = ::testing::internal::GetCapturedStderr();
    ::testing::internal::CaptureStderr();
    for (const char c : written) {
      if (c == '\n') times.push_back(now - 1000.0);
    }
  }
  ::testing::internal::GetCapturedStderr();
  return times;
}

TEST(Progress, OffATerminalTenMinutesAreNeverSilentForMoreThan30Seconds) {
  const std::vector<double> times = line_times(600, 0.5);
  ASSERT_FALSE(times.empty());
  EXPECT_NEAR(times[0], 0.5, 0.15);  // the first step
  EXPECT_NEAR(times[1], 10, 0.6);
  double previous = 0;
  for (const double time : times) {
    EXPECT_LE(time - previous, 30.0);
    previous = time;
  }
  EXPECT_LE(600 - previous, 30.0);
  EXPECT_LT(times.size(), 25U);  // a log, not a flood
}

TEST(Progress, AWorkerThatOnlyLoadsIsReportedToo) {
  const std::vector<double> times = line_times(100, 1e9);
  ASSERT_EQ(times.size(), 3U);
  EXPECT_LE(times[0], 30.0);
}

// 900 steps of 0.5 s are left, and the runs behind it.
TEST(Progress, TellsHowLongAllRunsAreGoingToTake) {
  Console console(plain_output());
  double now = 1000.0;
  Progress progress(console, "[1/3] 32-true", 128, [&] { return now; });
  progress.before_others(150.0);
  ::testing::internal::CaptureStderr();
  progress.take(StepsEvent{1, 1, 0, 1000, 0.5});
  now += 50.0;
  progress.take(StepsEvent{1, 1, 100, 1000, 0.5});
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("about 7m 30s left, 10m 00s of all runs"),
            std::string::npos);
}

TEST(Progress, RoughDurations) {
  EXPECT_EQ(rough_duration(2.34), "2.3 s");
  EXPECT_EQ(rough_duration(45.2), "45 s");
  EXPECT_EQ(rough_duration(988), "16m 28s");
  EXPECT_EQ(rough_duration(4992.44), "1h 23m");
}

}  // namespace
}  // namespace precbench::run_progress_test
