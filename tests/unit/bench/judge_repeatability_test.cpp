#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/judge/marks.h"
#include "bench/judge/repeatability.h"
#include "documents.h"

namespace precbench::judge_repeatability_test {
namespace {

using ::testing::Contains;
using testing::document_of;
using ::testing::HasSubstr;
using testing::mode_of;
using testing::run_of;

ModeRecord with_drift(double first_s, double last_s) {
  RunRecord drift = run_of(42, 0, last_s, 1, 0.9);
  drift.role = Role::drift;
  return mode_of("32-true", {run_of(42, 0, first_s, 1, 0.9), drift});
}

TEST(Drift, ComparesTheLastRunWithTheFirst) {
  EXPECT_DOUBLE_EQ(*drift_ratio(with_drift(10, 10.5)), 1.05);
  EXPECT_FALSE(drift_ratio(mode_of("32-true", {run_of(42, 0, 10, 1, 0.9)})));
}

TEST(Drift, IsShown) {
  EXPECT_THAT(run_notes(with_drift(10, 10.5)),
              Contains("run again at the end: 5.0 % slower than at first"));
}

TEST(Drift, MarksEveryModeBeyondTheBound) {
  ResultDocument steady =
      document_of({with_drift(10, 11.4), mode_of("16-mixed", {run_of(42, 0, 5, 1, 0.9)})});
  ResultDocument drifting =
      document_of({with_drift(10, 11.6), mode_of("16-mixed", {run_of(42, 0, 5, 1, 0.9)})});
  assign_marks(steady);
  assign_marks(drifting);
  EXPECT_FALSE(has_mark(steady.modes[1], "drift"));
  EXPECT_TRUE(has_mark(drifting.modes[0], "drift"));
  EXPECT_TRUE(has_mark(drifting.modes[1], "drift"));
}

TEST(Repeatability, BitwiseOrFromWhichStepNot) {
  ModeRecord mode = mode_of("32-true", {run_of(42, 0, 1, 1, 0.9), run_of(42, 1, 1, 1, 0.9)});
  EXPECT_FALSE(repeatability(mode));
  mode.runs[0].loss_trace = {2.3, 2.2, 2.1};
  mode.runs[1].loss_trace = {2.3, 2.2, 2.1};
  EXPECT_THAT(*repeatability(mode), HasSubstr("bitwise (3 steps)"));
  mode.runs[1].loss_trace[1] = 2.2000000000000006;
  EXPECT_EQ(*repeatability(mode), "the same seed differs at step 1");
}

// With one run a mode, the reference's pilot repeats its first steps.
TEST(Repeatability, OfThePilotWhereNothingElseRepeats) {
  ModeRecord mode = mode_of("32-true", {run_of(42, 0, 1, 1, 0.9)});
  mode.runs[0].loss_trace = {2.3, 2.2, 2.1, 2.0};
  mode.pilot = PilotRecord();
  EXPECT_FALSE(repeatability(mode));
  mode.pilot->seed = 42;
  mode.pilot->loss_trace = {2.3, 2.2};
  EXPECT_THAT(*repeatability(mode), HasSubstr("bitwise (2 steps)"));
  mode.pilot->loss_trace[1] = 2.2000000000000006;
  EXPECT_EQ(*repeatability(mode), "the same seed differs at step 1");
  mode.pilot->seed = 43;
  EXPECT_FALSE(repeatability(mode));
}

// Other seeds must differ.
TEST(Repeatability, DoesNotCompareSeeds) {
  ModeRecord mode = mode_of("32-true", {run_of(1, 0, 1, 1, 0.9), run_of(2, 0, 1, 1, 0.9)});
  mode.runs[0].loss_trace = {2.3};
  mode.runs[1].loss_trace = {2.2};
  EXPECT_FALSE(repeatability(mode));
}

TEST(Outliers, AreNamedWithAdvice) {
  std::vector<RunRecord> runs;
  for (const double seconds : {10.0, 10.1, 9.9, 14.0, 10.05}) {
    runs.push_back(run_of(42, static_cast<int64_t>(runs.size()), seconds, 1, 0.9));
  }
  EXPECT_THAT(run_notes(mode_of("32-true", runs)),
              Contains(HasSubstr("outlier: seed 42, repeat 4 took 14.00s (median 10.05s)")));
}

}  // namespace
}  // namespace precbench::judge_repeatability_test
