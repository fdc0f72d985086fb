#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/judge/comparability.h"
#include "bench/judge/comparison.h"
#include "bench/report/comparison_text.h"
#include "bench/report/github.h"
#include "bench/report/junit.h"
#include "common/errors.h"
#include "documents.h"

namespace precbench::judge_results_test {
namespace {

using testing::document_of;
using ::testing::ElementsAre;
using testing::failed_mode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::mode_of;
using ::testing::Not;
using testing::run_of;

ResultDocument noisy() {
  return document_of({mode_of("16-mixed", {run_of(1, 0, 9, 100, 0.8), run_of(1, 1, 14, 100, 0.8),
                                           run_of(2, 0, 11, 100, 0.85)}),
                      mode_of("32-true", {run_of(1, 0, 20, 200, 0.8)})});
}

TEST(CompareResults, AFileWithItselfIsTheSame) {
  for (const ModeComparison& mode : compare_results(noisy(), noisy()).modes) {
    for (const MetricComparison& metric : mode.metrics) {
      EXPECT_EQ(metric.verdict, Verdict::same) << mode.mode << " " << metric.metric->name;
    }
  }
}

TEST(CompareResults, NamesTheFieldsOfAnotherProtocol) {
  ResultDocument other = noisy();
  other.protocol["batch_size"] = 128;
  other.protocol["hash"] = "1";
  try {
    compare_results(noisy(), other);
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("differ in batch_size (64, 128)"));
    EXPECT_THAT(error.what(), Not(HasSubstr("hash")));
    EXPECT_THAT(error.what(), HasSubstr("--force"));
  }
  EXPECT_THAT(compare_results(noisy(), other, {.force = true}).warnings[0],
              HasSubstr("the protocols differ in batch_size"));
}

TEST(CompareResults, WarnsOfAnotherMachineAndJudgesAccuracyOnly) {
  ResultDocument other = noisy();
  other.environment["device"]["name"] = "Tesla P100";
  const Comparison comparison = compare_results(noisy(), other);
  EXPECT_THAT(comparison.warnings,
              ElementsAre(HasSubstr("another machine: device Tesla T4 and Tesla P100")));
  const auto& metrics = comparison.modes[0].metrics;
  for (const MetricComparison& metric : metrics) {
    const bool is_accuracy = metric.metric->unit == MetricUnit::fraction;
    if (!metric.base) continue;
    EXPECT_EQ(metric.verdict, is_accuracy ? Verdict::same : Verdict::inconclusive)
        << metric.metric->name;
  }
}

TEST(CompareResults, WarnsOfAnotherDriverAndJudgesAllTheSame) {
  ResultDocument base = noisy(), other = noisy();
  base.environment["driver"] = "550.54";
  other.environment["driver"] = "560.10";
  const Comparison comparison = compare_results(base, other);
  EXPECT_THAT(comparison.warnings, ElementsAre("other software: driver 550.54 and 560.10"));
  EXPECT_EQ(comparison.modes[0].metrics[0].verdict, Verdict::same);
}

TEST(CompareResults, SaysNothingOfWhatASideDoesNotKnow) {
  ResultDocument base = noisy();
  base.environment["driver"] = nullptr;
  EXPECT_THAT(compare_results(base, noisy()).warnings, IsEmpty());
}

TEST(CompareResults, RefusesResultsWithoutACommonMode) {
  EXPECT_THROW(compare_results(document_of({mode_of("32-true", {})}),
                               document_of({mode_of("16-mixed", {})})),
               FileError);
}

// Made by a version that counted other members into the hash, or worded a reason in another way.
TEST(CompareResults, TheMembersDecideNotTheHash) {
  ResultDocument other = noisy();
  other.protocol["hash"] = "1";
  other.protocol["unknown"] = {{"clip_norm", "in other words"}};
  EXPECT_NO_THROW(compare_results(noisy(), other));
}

// A mark of an earlier comparison says nothing about this one.
TEST(CompareResults, TheMarkOfAnotherMachineIsOfThisComparison) {
  ResultDocument base = noisy(), current = noisy();
  for (ResultDocument* document : {&base, &current}) {
    document->modes[0].marks.push_back({"other-machine", "device Tesla T4 and Tesla P100"});
  }
  const Comparison comparison = compare_results(base, current);
  for (const MetricComparison& metric : comparison.modes[0].metrics) {
    EXPECT_NE(metric.why, "measured on another machine");
  }
}

Verdict accuracy_verdict_on(int64_t test_samples, double base, double current) {
  ResultDocument a = document_of({mode_of("32-true", {run_of(1, 0, 10, 100, base)})});
  ResultDocument b = document_of({mode_of("32-true", {run_of(1, 0, 10, 100, current)})});
  for (ResultDocument* document : {&a, &b}) document->protocol["test_samples"] = test_samples;
  const Comparison comparison = compare_results(a, b);
  for (const MetricComparison& metric : comparison.modes[0].metrics) {
    if (metric.metric->name == "test_accuracy") return metric.verdict;
  }
  return Verdict::same;
}

// Three points: 1.96 * sqrt((0.8 * 0.2 + 0.77 * 0.23) / n) is 3.6 points for 1,000 samples, 1.1 for
// 10,000.
TEST(CompareResults, AFewTestSamplesHideWhatManyShow) {
  EXPECT_EQ(accuracy_verdict_on(1000, 0.80, 0.77), Verdict::inconclusive);
  EXPECT_EQ(accuracy_verdict_on(10000, 0.80, 0.77), Verdict::worse);
  EXPECT_EQ(accuracy_verdict_on(10000, 0.80, 0.785), Verdict::inconclusive);  // under two points
}

// The same difference with every seed is established as far as seeds go; it is of three samples.
TEST(CompareResults, ThreeSamplesAreNoDifferenceHoweverManySeeds) {
  const auto side = [](double shift, int64_t samples) {
    std::vector<RunRecord> runs;
    for (int64_t seed = 1; seed <= 5; ++seed) {
      runs.push_back(run_of(seed, 0, 10, 100, 0.8 + 0.001 * static_cast<double>(seed) + shift));
    }
    ResultDocument document = document_of({mode_of("32-true", runs)});
    document.protocol["test_samples"] = samples;
    return document;
  };
  const auto verdict = [&](int64_t samples) {
    return compare_results(side(0, samples), side(-0.015, samples)).modes[0].metrics[4].verdict;
  };
  EXPECT_EQ(verdict(200), Verdict::inconclusive);
  EXPECT_EQ(verdict(2000), Verdict::worse);
}

TEST(CompareResults, TellsWhatBecameOfAMode) {
  const ResultDocument broken =
      document_of({failed_mode("16-mixed", Status::diverged, "loss nan at step 12"),
                   mode_of("32-true", {run_of(1, 0, 20, 200, 0.8)})});
  const Comparison comparison = compare_results(noisy(), broken);
  EXPECT_EQ(comparison.modes[0].status_change, "ok before, now diverged: loss nan at step 12");
  EXPECT_EQ(comparison.modes[0].status_verdict, Verdict::worse);
  EXPECT_THAT(comparison_text(comparison, {}), HasSubstr("worse"));
}

TEST(ComparisonText, ShowsFiguresChangeAndVerdict) {
  const ResultDocument base = document_of({mode_of("32-true", {run_of(1, 0, 10, 1 << 20, 0.80)})});
  const ResultDocument current =
      document_of({mode_of("32-true", {run_of(1, 0, 13, 2 << 20, 0.85)})});
  EXPECT_EQ(
      comparison_text(compare_results(base, current), {}),
      "mode     metric          base      new       change    verdict  why\n"
      "32-true  time            10.00s    13.00s    +30.0 %   worse    beyond 25 %, what "
      "single runs can show\n"
      "32-true  memory          1.00 MiB  2.00 MiB  +100.0 %  worse    memory is counted, not "
      "sampled\n"
      "32-true  train_accuracy  50.00 %   50.00 %   0.00 pp   same     the same figures\n"
      "32-true  test_accuracy   80.00 %   85.00 %   +5.00 pp  better   beyond 2 points, what "
      "one seed can show\n");
}

GateResult failed_gate() {
  return evaluate_gate(document_of({mode_of("32-true", {run_of(1, 0, 10, 100, 0.8)})}),
                       document_of({mode_of("32-true", {run_of(1, 0, 11, 200, 0.8)})}),
                       parse_gate_rules({"time:5%", "memory:2%", "train_accuracy:1pp"}), false);
}

TEST(GateText, ListsTheVerdicts) {
  const std::string text = gate_text(failed_gate(), {});
  EXPECT_THAT(text, HasSubstr("gate: failed\n"));
  EXPECT_THAT(text, HasSubstr("32-true  time:5%             inconclusive  +10.0 %; one run on a"));
  EXPECT_THAT(text, HasSubstr("32-true  memory:2%           failed        +100.0 %; memory is"));
}

// A percent sign would end the data of a workflow command.
TEST(GateAnnotations, EscapeForTheRunner) {
  EXPECT_THAT(
      gate_annotations(failed_gate()),
      ::testing::ElementsAre(
          "::warning title=precbench%3A time%3A5%25 inconclusive::32-true: +10.0 %25; one run on "
          "a side: under 25 %25 nothing can be told; use --repeats 5",
          "::error title=precbench%3A memory%3A2%25 failed::32-true: +100.0 %25; memory is "
          "counted, not sampled"));
}

TEST(Junit, OfAGate) {
  EXPECT_EQ(junit_of_gate(failed_gate()),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="precbench">
  <testsuite name="precbench gate" tests="3" failures="1" errors="0" skipped="1" time="0.000">
    <testcase name="32-true time:5%" classname="precbench.gate" time="0.000">
      <skipped message="inconclusive: +10.0 %; one run on a side: under 25 % nothing can be told; use --repeats 5" />
    </testcase>
    <testcase name="32-true memory:2%" classname="precbench.gate" time="0.000">
      <failure message="+100.0 %; memory is counted, not sampled">+100.0 %; memory is counted, not sampled</failure>
    </testcase>
    <testcase name="32-true train_accuracy:1pp" classname="precbench.gate" time="0.000" />
  </testsuite>
</testsuites>
)");
}

TEST(Junit, OfAResult) {
  ResultDocument document =
      document_of({mode_of("32-true", {run_of(1, 0, 10, 100, 0.8)}),
                   failed_mode("16-mixed", Status::oom, "<no> \x1b[31mmemory"),
                   failed_mode("tf32", Status::unsupported, "native from Ampere (8.0)")});
  document.gate = to_json(failed_gate());
  const std::string text = junit_of_result(document);
  EXPECT_THAT(text, HasSubstr(R"(tests="3" failures="1" errors="0" skipped="1" time="10.000")"));
  EXPECT_THAT(text, HasSubstr(R"(<failure message="out of memory: &lt;no)"));
  EXPECT_THAT(text, HasSubstr(R"x(<skipped message="unsupported: native from Ampere (8.0)" />)x"));
  EXPECT_THAT(text, HasSubstr(R"(<testsuite name="precbench gate" tests="3" failures="1")"));
}

}  // namespace
}  // namespace precbench::judge_results_test
