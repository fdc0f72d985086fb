// Times that others or low clocks disturbed: judged where that cannot have made the difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../places.h"
#include "bench/judge/comparison.h"
#include "bench/judge/gate.h"
#include "bench/judge/marks.h"
#include "bench/judge/recommend.h"
#include "bench/judge/standing.h"
#include "documents.h"

namespace precbench::judge_disturbed_test {
namespace {

using testing::document_of;
using ::testing::HasSubstr;
using testing::mode_of;
using testing::run_of;

// One busy run on two processors and two threads.
ResultDocument busy(double slow_s, double others_share, double fast_s = 1) {
  ResultDocument document = document_of({mode_of("16-mixed", {run_of(42, 0, slow_s, 100, 0.9)}),
                                         mode_of("32-true", {run_of(42, 0, fast_s, 100, 0.9)})});
  document.environment["cpu"] = {{"logical_cores", 2}, {"threads", 2}};
  for (ModeRecord& mode : document.modes) {
    mode.marks.push_back({"busy", "others"});
    for (RunRecord& run : mode.runs) run.others_share = others_share;
  }
  assign_marks(document);
  return document;
}

MetricComparison speed_in(const ResultDocument& document) {
  return standings(document, *reference_mode(document)).front().speed;
}

// A tenth of two processors is a fifth of the time at most: 7 is 5.6 at least.
TEST(Busy, SevenTimesSlowerIsJudged) {
  for (const double share : {0.10, 0.11, 0.18}) {
    EXPECT_EQ(speed_in(busy(7, share)).verdict, Verdict::worse) << share;
  }
  EXPECT_NEAR(*speed_in(busy(7, 0.18)).least_change, 7 * 0.64 - 1, 1e-9);
  EXPECT_THAT(recommend(busy(7, 0.18)).sentences.back(),
              HasSubstr("16-mixed is at least 4.5 times slower all the same"));
}

TEST(Busy, ThreePercentIsNot) {
  const MetricComparison speed = speed_in(busy(1.03, 0.11));
  EXPECT_EQ(speed.verdict, Verdict::inconclusive);
  EXPECT_TRUE(speed.is_refused);
}

// 1.5 times is 1.5 * 0.64 = 0.96 at least.
TEST(Busy, NorIsWhatTheOthersMayHaveMade) {
  EXPECT_EQ(speed_in(busy(1.5, 0.18)).verdict, Verdict::inconclusive);
  EXPECT_EQ(speed_in(busy(100, 0.5)).verdict, Verdict::inconclusive);  // all of it may be theirs
}

TEST(Busy, OnlyTheSlowerSideCanOweItsTimeToOthers) {
  EXPECT_EQ(speed_in(busy(7, 0.05)).verdict, Verdict::worse);  // marked for the other's sake
  ResultDocument document = busy(7, 0.9);
  for (RunRecord& run : document.modes[0].runs) run.others_share = 0.02;
  assign_marks(document);
  EXPECT_EQ(speed_in(document).verdict, Verdict::worse);
}

// One thread on two processors is held up only when others take both.
TEST(Busy, ProcessorsThatAreLeftHelp) {
  ResultDocument document = busy(7, 0.5);
  document.environment["cpu"]["threads"] = 1;
  assign_marks(document);
  EXPECT_NEAR(*document.modes[0].marks[0].lost, 0.5, 1e-9);
  EXPECT_EQ(speed_in(document).verdict, Verdict::worse);
}

// Reading the data takes as long as the training, and the others may have waited for the latter.
TEST(Busy, AllOfTheOthersTimeMayLieWhereItIsTimed) {
  ResultDocument document = busy(10, 0.15);
  document.modes[0].runs[0].time.data_s = 10;
  assign_marks(document);
  EXPECT_NEAR(*document.modes[0].marks[0].lost, 0.6, 1e-9);
}

TEST(Busy, AnUnknownShareOrASharedGpuBoundsNothing) {
  ResultDocument document = busy(7, 0.18);
  document.modes[0].runs[0].others_share.reset();
  assign_marks(document);
  EXPECT_EQ(speed_in(document).verdict, Verdict::inconclusive);
  document = busy(7, 0.18);
  document.modes[0].runs[0].energy = {{"samples", 20}, {"foreign_processes", 1}};
  assign_marks(document);
  EXPECT_EQ(speed_in(document).verdict, Verdict::inconclusive);
}

// Half of the clock is half of the speed at worst.
TEST(Throttled, IsJudgedByTheClocks) {
  const auto throttled = [](double slow_s) {
    ResultDocument document = document_of({mode_of("16-mixed", {run_of(42, 0, slow_s, 100, 0.9)}),
                                           mode_of("32-true", {run_of(42, 0, 1, 100, 0.9)})});
    document.modes[0].marks.push_back({"throttled", "hot"});
    document.modes[0].runs[0].energy = {
        {"samples", 20},
        {"foreign_processes", 0},
        {"sm_clock_mhz", {{"mean", 750}, {"max", 900}, {"limit", 1500}}},
        {"memory_clock_mhz", {{"mean", 5000}, {"max", 5000}}}};
    assign_marks(document);
    return speed_in(document);
  };
  EXPECT_EQ(throttled(3).verdict, Verdict::worse);
  EXPECT_NEAR(*throttled(3).least_change, 0.5, 1e-9);
  EXPECT_EQ(throttled(1.9).verdict, Verdict::inconclusive);
}

TEST(DebugBuild, IsNeverJudged) {
  ResultDocument document = busy(7, 0.18);
  document.tool["build_type"] = "Debug";
  assign_marks(document);
  EXPECT_EQ(speed_in(document).verdict, Verdict::inconclusive);
}

// tests/cases/busy: step times of mlp on one thread of two processors, 16-mixed with oneDNN held
// down to AVX2, which has no fp16. Others took 86 % of the machine: too much for any verdict.
ResultDocument recorded() { return load_result(source_dir() + "/tests/cases/busy/emulated.json"); }

ResultDocument with_share(double share) {
  ResultDocument document = recorded();
  for (ModeRecord& mode : document.modes) {
    for (RunRecord& run : mode.runs) run.others_share = share;
  }
  assign_marks(document);
  return document;
}

TEST(RecordedSteps, BesideAFullMachineDecideNothing) {
  ResultDocument document = recorded();
  assign_marks(document);
  ASSERT_TRUE(has_mark(document.modes[0], "busy"));
  EXPECT_EQ(speed_in(document).verdict, Verdict::inconclusive);
  EXPECT_THAT(recommend(document).sentences[0], HasSubstr("the times cannot be judged"));
}

TEST(RecordedSteps, BesideAFifthOfItSayThatEmulationIsSlow) {
  const MetricComparison speed = speed_in(with_share(0.18));
  EXPECT_EQ(speed.metric->name, "step_time");
  EXPECT_EQ(speed.verdict, Verdict::worse);
  EXPECT_GT(*speed.least_change, 6);
}

TEST(RecordedSteps, NeverSayThatThreePercentAreADifference) {
  const ResultDocument base = with_share(0.18);
  ResultDocument current = base;
  for (ModeRecord& mode : current.modes) {
    for (RunRecord& run : mode.runs) {
      run.time.total_s = *run.time.total_s * 1.03;
      run.time.step_ms.median = *run.time.step_ms.median * 1.03;
    }
  }
  for (const char* rule : {"time:2%", "step_time:2%"}) {
    const GateResult gate = evaluate_gate(base, current, {parse_gate_rule(rule)}, false);
    for (const GateVerdict& verdict : gate.verdicts) {
      EXPECT_EQ(verdict.outcome, GateOutcome::inconclusive) << verdict.why;
      EXPECT_THAT(verdict.why, HasSubstr("marked busy"));
    }
  }
}

// One per cent more with every run, 1 % of noise: the spread is no noise.
TEST(Trend, IsMarkedAndBoundsWhatItMayHaveMade) {
  const auto file = [](double seconds, double slope) {
    std::vector<RunRecord> runs;
    for (int i = 0; i < 10; ++i) {
      const double noise = i % 3 == 0 ? 1.01 : 0.995;
      runs.push_back(run_of(42, i, seconds * (1 + slope * i) * noise, 100, 0.9));
    }
    return document_of({mode_of("32-true", runs)});
  };
  ResultDocument rising = file(10, 0.01), steady = file(10, 0);
  assign_marks(rising);
  assign_marks(steady);
  EXPECT_TRUE(has_mark(rising.modes[0], "trend"));
  EXPECT_FALSE(has_mark(steady.modes[0], "trend"));
  const auto outcome = [](const ResultDocument& base, const ResultDocument& current) {
    return evaluate_gate(base, current, {parse_gate_rule("time:5%")}, false).outcome;
  };
  EXPECT_EQ(outcome(rising, file(10.8, 0.01)), GateOutcome::inconclusive);
  EXPECT_EQ(outcome(rising, file(20, 0.01)), GateOutcome::failed);
}

}  // namespace
}  // namespace precbench::judge_disturbed_test
