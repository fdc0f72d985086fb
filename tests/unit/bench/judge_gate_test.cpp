// Truth tables: what fails, what passes, what the gate refuses to decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/judge/gate.h"
#include "documents.h"

namespace precbench::judge_gate_test {
namespace {

using testing::document_of;
using testing::failed_mode;
using ::testing::HasSubstr;
using testing::mode_of;
using testing::run_of;

constexpr int64_t kMiB = 1 << 20;

// Five runs around `seconds` with 1 % of spread.
ModeRecord five(double seconds, int64_t bytes = 100 * kMiB, double accuracy = 0.9,
                const std::string& name = "32-true") {
  std::vector<RunRecord> runs;
  for (const double part : {0.99, 0.995, 1.0, 1.005, 1.01}) {
    runs.push_back(run_of(42, static_cast<int64_t>(runs.size()), seconds * part, bytes, accuracy));
  }
  return mode_of(name, runs);
}

ModeRecord one(double seconds, int64_t bytes = 100 * kMiB, double accuracy = 0.9) {
  return mode_of("32-true", {run_of(42, 0, seconds, bytes, accuracy)});
}

ModeRecord seeds(std::vector<double> accuracies) {
  std::vector<RunRecord> runs;
  for (const double accuracy : accuracies) {
    runs.push_back(run_of(static_cast<int64_t>(runs.size()), 0, 10, kMiB, accuracy));
  }
  return mode_of("32-true", runs);
}

ModeRecord repeats(std::vector<int64_t> mebibytes) {
  std::vector<RunRecord> runs;
  for (const int64_t bytes : mebibytes) {
    runs.push_back(run_of(42, static_cast<int64_t>(runs.size()), 10, bytes * kMiB, 0.9));
  }
  return mode_of("32-true", runs);
}

ModeRecord rate(double samples_per_s) {
  ModeRecord mode = one(10);
  mode.runs[0].time.samples_per_s = samples_per_s;
  return mode;
}

GateResult gate(ModeRecord base, ModeRecord current, const std::string& rule, bool strict = false) {
  return evaluate_gate(document_of({std::move(base)}), document_of({std::move(current)}),
                       {parse_gate_rule(rule)}, strict);
}

struct TruthRow {
  const char* name;
  ModeRecord base, current;
  const char* rule;
  GateOutcome outcome;
};

class GateTruth : public ::testing::TestWithParam<TruthRow> {};

TEST_P(GateTruth, Holds) {
  const TruthRow& row = GetParam();
  const GateResult result = gate(row.base, row.current, row.rule);
  ASSERT_EQ(result.verdicts.size(), 1U);
  EXPECT_EQ(name_of(result.outcome), name_of(row.outcome)) << result.verdicts[0].why;
  EXPECT_EQ(result.exit_code,
            row.outcome == GateOutcome::failed ? ExitCode::gate_failed : ExitCode::ok);
}

INSTANTIATE_TEST_SUITE_P(
    Times, GateTruth,
    ::testing::Values(
        TruthRow{"TenPercentSlower", five(10), five(11), "time:5%", GateOutcome::failed},
        TruthRow{"TenPercentUnderALimitOfTwenty", five(10), five(11), "time:20%",
                 GateOutcome::passed},
        TruthRow{"TenPercentFaster", five(10), five(9), "time:5%", GateOutcome::passed},
        TruthRow{"Unchanged", five(10), five(10), "time:5%", GateOutcome::passed},
        TruthRow{"DecimalLimitReached", five(10), five(10.3), "time:2.5%", GateOutcome::failed},
        TruthRow{"OneRunWithinItsNoise", one(10), one(12), "time:5%", GateOutcome::inconclusive},
        TruthRow{"OneRunBeyondItsBound", one(10), one(12.6), "time:5%", GateOutcome::failed},
        TruthRow{"OneRunBeyondButUnderTheLimit", one(10), one(12.6), "time:30%",
                 GateOutcome::inconclusive},
        TruthRow{"OneRunMuchFaster", one(10), one(7.9), "time:5%", GateOutcome::passed},
        TruthRow{"OneRunTheSameFile", one(10), one(10), "time:5%", GateOutcome::passed},
        TruthRow{"OneRunAgainstFive", one(10), five(11), "time:5%", GateOutcome::inconclusive},
        TruthRow{"NoFigure", one(10), one(10), "throughput:5%", GateOutcome::inconclusive}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Memory, GateTruth,
    ::testing::Values(
        TruthRow{"ThreePercentMore", one(10), one(10, 103 * kMiB), "memory:2%",
                 GateOutcome::failed},
        TruthRow{"ExactlyTheLimit", one(10), one(10, 102 * kMiB), "memory:2%", GateOutcome::failed},
        TruthRow{"OnePercentMore", one(10), one(10, 101 * kMiB), "memory:2%", GateOutcome::passed},
        TruthRow{"AByteMoreWhereNoneIsAllowed", one(10), one(10, 100 * kMiB + 1), "memory:0%",
                 GateOutcome::failed},
        TruthRow{"HalfOfIt", one(10), one(10, 50 * kMiB), "memory:2%", GateOutcome::passed},
        TruthRow{"RepeatsThatDifferAndOverlap", repeats({100, 140}), repeats({130, 131}),
                 "memory:2%", GateOutcome::inconclusive},
        TruthRow{"RepeatsThatDifferApart", repeats({100, 110}), repeats({111, 130}), "memory:2%",
                 GateOutcome::failed}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Accuracy, GateTruth,
    ::testing::Values(
        TruthRow{"OneSeedUnderTwoPoints", one(10), one(10, 100 * kMiB, 0.885),
                 "test_accuracy:0.5pp", GateOutcome::inconclusive},
        TruthRow{"OneSeedThreePointsLower", one(10), one(10, 100 * kMiB, 0.87),
                 "test_accuracy:0.5pp", GateOutcome::failed},
        TruthRow{"OneSeedThreePointsHigher", one(10), one(10, 100 * kMiB, 0.93),
                 "test_accuracy:0.5pp", GateOutcome::passed},
        TruthRow{"EverySeedOnePointLower", seeds({0.90, 0.91, 0.92}), seeds({0.889, 0.90, 0.911}),
                 "test_accuracy:0.5pp", GateOutcome::failed},
        TruthRow{"SeedsUpAndDown", seeds({0.90, 0.91, 0.92}), seeds({0.901, 0.909, 0.92}),
                 "test_accuracy:0.5pp", GateOutcome::passed},
        TruthRow{"TwoSeedsOfALossThatOneWouldShow", seeds({0.90, 0.90}), seeds({0.88, 0.86}),
                 "test_accuracy:0.5pp", GateOutcome::failed},
        TruthRow{"OneSeedInCommonOfTwo", seeds({0.90, 0.90}),
                 mode_of("32-true", {run_of(0, 0, 10, kMiB, 0.89), run_of(7, 0, 10, kMiB, 0.84)}),
                 "test_accuracy:0.5pp", GateOutcome::failed},
        TruthRow{"RepeatsOfOneAccuracy", one(10, kMiB, 0.8762), five(10, kMiB, 0.8762),
                 "test_accuracy:0.5pp", GateOutcome::passed},
        TruthRow{"SeedsWide", seeds({0.90, 0.91, 0.92}), seeds({0.95, 0.85, 0.90}),
                 "test_accuracy:0.5pp", GateOutcome::inconclusive}),
    [](const auto& info) { return info.param.name; });

// The limit is what the rate falls by, not what it would have to rise by again.
INSTANTIATE_TEST_SUITE_P(Throughput, GateTruth,
                         ::testing::Values(TruthRow{"AFallUnderTheLimit", rate(100), rate(79),
                                                    "throughput:25%", GateOutcome::inconclusive},
                                           TruthRow{"AFallOfTheLimit", rate(100), rate(75),
                                                    "throughput:25%", GateOutcome::failed},
                                           TruthRow{"ARise", rate(100), rate(140), "throughput:25%",
                                                    GateOutcome::passed}),
                         [](const auto& info) { return info.param.name; });

TEST(Gate, StrictMakesInconclusiveAnExitCode) {
  EXPECT_EQ(gate(one(10), one(12), "time:5%", true).exit_code, ExitCode::inconclusive);
  EXPECT_EQ(gate(one(10), one(12), "time:5%", false).exit_code, ExitCode::ok);
  EXPECT_EQ(gate(one(10), one(13), "time:5%", true).exit_code, ExitCode::gate_failed);
}

TEST(Gate, FailsAModeThatIsNoLongerOk) {
  const GateResult result = gate(one(10), failed_mode("32-true", Status::oom, "2 GiB"), "time:5%");
  EXPECT_EQ(result.exit_code, ExitCode::gate_failed);
  EXPECT_EQ(result.verdicts[0].why, "ok in the baseline, now out of memory: 2 GiB");
}

TEST(Gate, PassesAModeThatWasNeverOk) {
  EXPECT_EQ(gate(failed_mode("32-true", Status::unsupported, "x"),
                 failed_mode("32-true", Status::unsupported, "x"), "time:5%")
                .outcome,
            GateOutcome::passed);
}

TEST(Gate, MarksForbidVerdictsOnTimeButNotOnMemory) {
  for (const char* mark : {"busy", "throttled"}) {
    ModeRecord slow = five(20, 200 * kMiB);
    slow.marks.push_back({mark, "because"});
    EXPECT_EQ(gate(five(10), slow, "time:5%").outcome, GateOutcome::inconclusive) << mark;
    EXPECT_EQ(gate(five(10), slow, "memory:2%").outcome, GateOutcome::failed) << mark;
  }
}

TEST(Gate, EmulationInformsOnly) {
  ModeRecord slow = five(20);
  slow.support = Support{SupportLevel::emulated, "native from Ampere (8.0)"};
  EXPECT_EQ(gate(five(10), slow, "time:5%").outcome, GateOutcome::failed);
}

GateResult gate_of_fashion(double before, double now, const std::string& rule) {
  ResultDocument base = document_of({one(10, kMiB, before)});
  ResultDocument current = document_of({one(10, kMiB, now)});
  base.protocol["dataset"] = current.protocol["dataset"] = "fashion-mnist";
  return evaluate_gate(base, current, {parse_gate_rule(rule)}, false);
}

TEST(Gate, FailsWhatLearnedAndDoesNoMore) {
  const GateResult result = gate_of_fashion(0.88, 0.1, "test_accuracy:0.5pp");
  EXPECT_EQ(result.outcome, GateOutcome::failed);
  EXPECT_EQ(result.verdicts[0].why, "learned in the baseline, now at chance");
  // Whatever the rule asks for: a dead model's time is no time.
  EXPECT_EQ(gate_of_fashion(0.88, 0.1, "time:5%").outcome, GateOutcome::failed);
}

TEST(Gate, ADeadBaselineDecidesNoAccuracy) {
  for (const double now : {0.1, 0.9}) {
    const GateResult result = gate_of_fashion(0.1, now, "test_accuracy:0.5pp");
    EXPECT_EQ(result.outcome, GateOutcome::inconclusive);
    EXPECT_THAT(result.verdicts[0].why, HasSubstr("base is at chance"));
  }
  // Hardly above chance before, hardly below it now.
  EXPECT_EQ(gate_of_fashion(0.112, 0.109, "test_accuracy:0.5pp").outcome,
            GateOutcome::inconclusive);
}

TEST(Gate, NeverPassesWithoutAModeOfTheBaseline) {
  const ResultDocument base = document_of({five(10), five(10, kMiB, 0.9, "16-mixed")});
  const GateResult result =
      evaluate_gate(base, document_of({five(10)}), parse_gate_rules({"time:5%"}), true);
  EXPECT_EQ(result.exit_code, ExitCode::inconclusive);
  EXPECT_EQ(
      evaluate_gate(document_of({five(10)}), base, parse_gate_rules({"time:5%"}), true).outcome,
      GateOutcome::passed);
}

TEST(Gate, AnotherMachineDecidesNothingUnlessForced) {
  const ResultDocument base = document_of({five(10)});
  ResultDocument current = document_of({five(20)});
  current.tool["libtorch"] = "2.15.0";
  const std::vector<GateRule> rules = {parse_gate_rule("time:5%")};
  EXPECT_EQ(evaluate_gate(base, current, rules, false).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(evaluate_gate(base, current, rules, false, true).outcome, GateOutcome::failed);
  for (ModeRecord& mode : current.modes) mode.marks.push_back({"busy", "others"});
  EXPECT_EQ(evaluate_gate(base, current, rules, false, true).outcome, GateOutcome::inconclusive);
}

TEST(Gate, AGpuWithoutANameIsAnotherMachine) {
  const ResultDocument base = document_of({five(10)});
  ResultDocument current = document_of({five(20)});
  current.environment["device"]["name"] = nullptr;
  const GateResult result = evaluate_gate(base, current, {parse_gate_rule("time:5%")}, false);
  EXPECT_EQ(result.verdicts[0].why, "+100.0 %; measured on another machine");
}

TEST(Gate, RefusesAnotherProtocol) {
  const ResultDocument base = document_of({five(10)});
  ResultDocument current = document_of({five(10)});
  current.protocol["batch_size"] = 128;
  EXPECT_THROW(evaluate_gate(base, current, {parse_gate_rule("time:5%")}, false), FileError);
}

TEST(Gate, ARuleForAModeReplacesTheGeneralOne) {
  const ResultDocument base = document_of({five(10), five(10, kMiB, 0.9, "16-mixed")});
  const ResultDocument current = document_of({five(11), five(11, kMiB, 0.9, "16-mixed")});
  const GateResult result =
      evaluate_gate(base, current, parse_gate_rules({"time[16-mixed]:20%", "time:5%"}), false);
  ASSERT_EQ(result.verdicts.size(), 2U);
  EXPECT_EQ(result.verdicts[0].outcome, GateOutcome::failed);
  EXPECT_EQ(result.verdicts[1].outcome, GateOutcome::passed);
}

TEST(Gate, DoesNotPassWhereTheModeIsMissing) {
  const GateResult result =
      evaluate_gate(document_of({five(10), five(10, kMiB, 0.9, "16-mixed")}),
                    document_of({five(10)}), parse_gate_rules({"time[16-mixed]:20%"}), false);
  EXPECT_EQ(result.outcome, GateOutcome::inconclusive);
  EXPECT_EQ(result.verdicts.back().why, "is in the baseline and was not run now");
}

TEST(Gate, FailedOutweighsInconclusive) {
  const GateResult result =
      evaluate_gate(document_of({one(10)}), document_of({one(12, 200 * kMiB)}),
                    parse_gate_rules({"time:5%", "memory:2%"}), true);
  EXPECT_EQ(result.exit_code, ExitCode::gate_failed);
}

TEST(GateRule, ReadsAllForms) {
  const GateRule rule = parse_gate_rule("time[16]:2.5%");
  EXPECT_EQ(rule.metric->name, "time");
  EXPECT_EQ(rule.mode, "16-mixed");
  EXPECT_DOUBLE_EQ(rule.limit, 0.025);
  EXPECT_DOUBLE_EQ(parse_gate_rule("test_accuracy:0.5pp").limit, 0.005);
}

TEST(GateRule, SaysWhatIsWrong) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      parse_gate_rule(text);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of("tme:5%"), HasSubstr("did you mean 'time'?"));
  EXPECT_THAT(error_of("time:5"), HasSubstr("time takes a percentage, as in time:5%"));
  EXPECT_THAT(error_of("time:5pp"), HasSubstr("takes a percentage"));
  EXPECT_THAT(error_of("test_accuracy:5%"), HasSubstr("takes points"));
  EXPECT_THAT(error_of("time"), HasSubstr("has no limit"));
  EXPECT_THAT(error_of("time:%"), HasSubstr("takes a percentage"));
  EXPECT_THAT(error_of("time:abc%"), HasSubstr("'abc' is not a number"));
  EXPECT_THAT(error_of("time:nan%"), HasSubstr("is not a number"));
  EXPECT_THAT(error_of("time:-1%"), HasSubstr("between 0 and 1000"));
  EXPECT_THAT(error_of("time[16-mixd]:5%"), HasSubstr("did you mean '16-mixed'?"));
  EXPECT_THAT(error_of("time[16-mixed:5%"), HasSubstr("not closed"));
  EXPECT_THAT(error_of("throughput:100%"), HasSubstr("cannot fall by 100 %"));
}

TEST(GateAdvice, OfABaselineWithSingleRuns) {
  const ResultDocument base = document_of({one(10)});
  EXPECT_TRUE(needs_repeats(parse_gate_rules({"time:5%"})));
  EXPECT_FALSE(needs_repeats(parse_gate_rules({"memory:2%", "test_accuracy:1pp"})));
  EXPECT_THAT(single_run_advice(base, parse_gate_rules({"time:5%"})),
              HasSubstr("only a change of 25 % or more could fail"));
  EXPECT_EQ(single_run_advice(document_of({five(10)}), parse_gate_rules({"time:5%"})), "");
  EXPECT_EQ(single_run_advice(base, parse_gate_rules({"memory:5%"})), "");
}

}  // namespace
}  // namespace precbench::judge_gate_test
