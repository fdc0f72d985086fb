#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/judge/recommend.h"
#include "documents.h"

namespace precbench::judge_recommend_test {
namespace {

using testing::document_of;
using ::testing::ElementsAre;
using testing::failed_mode;
using ::testing::HasSubstr;
using testing::mode_of;
using testing::run_of;

constexpr int64_t kMiB = 1 << 20;

ModeRecord single(const std::string& mode, double seconds, double accuracy,
                  int64_t bytes = 100 * kMiB) {
  return mode_of(mode, {run_of(42, 0, seconds, bytes, accuracy)});
}

ModeRecord marked(ModeRecord mode, const std::string& id) {
  mode.marks.push_back({id, "because"});
  return mode;
}

std::string all_of(const ResultDocument& document) {
  std::string text;
  for (const std::string& line : summary_lines(recommend(document))) text += line + "\n";
  return text;
}

TEST(Recommend, ASingleRunBeyondTheBound) {
  const auto result = recommend(
      document_of({single("16-mixed", 50, 0.90, 64 * kMiB), single("32-true", 100, 0.91)}));
  EXPECT_THAT(result.sentences,
              ElementsAre("Use 16-mixed here: 2.0 times faster than 32-true, 36 % less memory (one "
                          "run each). Accuracy: -1.00 pp, undecided (one seed)."));
  EXPECT_EQ(result.code, "Trainer(precision=\"16-mixed\") or Fabric(precision=\"16-mixed\")");
  EXPECT_EQ(result.closing, "");
}

// 100 / 81 = 1.23 is under the bound of 1.25 for single runs.
TEST(Recommend, NotASingleRunWithinTheBound) {
  const auto result =
      recommend(document_of({single("16-mixed", 81, 0.9), single("32-true", 100, 0.9)}));
  EXPECT_EQ(result.mode, "32-true");
  EXPECT_THAT(result.sentences,
              ElementsAre("No mode is clearly faster than 32-true here: stay with 32-true. For "
                          "closer figures use --repeats 5."));
}

TEST(Recommend, NamesAModeThatOnlySavesMemory) {
  const std::string text =
      all_of(document_of({single("16-mixed", 99, 0.9, 60 * kMiB), single("32-true", 100, 0.9)}));
  EXPECT_THAT(text, HasSubstr("If memory is short: 16-mixed needs 40 % less memory at about the "
                              "same speed. Accuracy: the same (one seed)."));
}

// The same 1.2 with repeats of 1 % noise is established.
TEST(Recommend, SmallerDifferencesWithRepeats) {
  const auto runs = [](double seconds) {
    return std::vector<RunRecord>{run_of(42, 0, seconds * 0.99, kMiB, 0.9),
                                  run_of(42, 1, seconds, kMiB, 0.9),
                                  run_of(42, 2, seconds * 1.01, kMiB, 0.9)};
  };
  const auto result =
      recommend(document_of({mode_of("16-mixed", runs(100)), mode_of("32-true", runs(120))}));
  ASSERT_EQ(result.sentences.size(), 1U);
  // 1.2 * sqrt(2) * 1 % = 0.017
  EXPECT_EQ(result.sentences[0],
            "Use 16-mixed here: 1.20 ± 0.02 times faster than 32-true, the same memory (3 runs "
            "each). Accuracy: the same (one seed).");
}

TEST(Recommend, NotAModeThatLosesAccuracy) {
  const auto result =
      recommend(document_of({single("16-true", 50, 0.85), single("32-true", 100, 0.90)}));
  EXPECT_EQ(result.mode, "32-true");
  EXPECT_EQ(result.sentences.back(),
            "16-true is 2.0 times faster than 32-true, but its test accuracy is 5.0 points lower.");
}

// 1.96 * sqrt((0.85 * 0.15 + 0.875 * 0.125) / n): 3.0 points for 1,000 test samples, 1.0 for
// 10,000.
TEST(Recommend, AFewTestSamplesDoNotShowALoss) {
  ResultDocument document =
      document_of({single("16-true", 50, 0.85), single("32-true", 100, 0.875)});
  document.protocol["test_samples"] = 10000;
  EXPECT_EQ(recommend(document).mode, "32-true");
  document.protocol["test_samples"] = 1000;
  EXPECT_EQ(recommend(document).mode, "16-true");
  EXPECT_THAT(recommend(document).sentences[0],
              HasSubstr("Accuracy: -2.50 pp, undecided (one seed, 1000 test samples)."));
}

// Several seeds agree on this test set; another one of 1,000 samples could turn it round.
TEST(Recommend, NamesTheTestSetWhereItIsSmall) {
  const auto mode = [](const char* name, double seconds, double accuracy) {
    std::vector<RunRecord> runs;
    for (int64_t seed = 1; seed <= 3; ++seed) {
      const auto step = static_cast<double>(seed);
      runs.push_back(run_of(seed, 0, seconds + step, kMiB, accuracy + 0.001 * step));
    }
    runs.back().test_accuracy = *runs.back().test_accuracy + 0.0001;
    return mode_of(name, runs);
  };
  ModeRecord faster = mode("16-mixed", 50, 0.825);
  faster.runs[0].test_accuracy = *faster.runs[0].test_accuracy + 0.0003;
  ResultDocument document = document_of({faster, mode("32-true", 100, 0.80)});
  document.protocol["test_samples"] = 1000;
  EXPECT_THAT(recommend(document).sentences[0],
              HasSubstr("Accuracy: +2.51 pp (n=3 seeds, on these 1000 test samples)."));
  document.protocol["test_samples"] = 10000;
  EXPECT_THAT(recommend(document).sentences[0], HasSubstr("Accuracy: +2.51 pp (n=3 seeds)."));
}

// Memory is counted: a busy machine does not touch it.
TEST(Recommend, OnABusyMachineSaysWhatToDoAndWhatHolds) {
  const auto result = recommend(document_of({marked(single("16-mixed", 50, 0.9, 60 * kMiB), "busy"),
                                             marked(single("32-true", 100, 0.9), "busy")}));
  EXPECT_EQ(result.mode, "");
  EXPECT_THAT(
      result.sentences,
      ElementsAre("No recommendation: the times cannot be judged, 32-true is marked busy "
                  "(because).",
                  "Close other programs, or wait until the machine is quiet, and run it again.",
                  "Memory is counted and holds all the same: 16-mixed needs 40 % less memory."));
}

// A mode whose times were disturbed is left out, not forgotten.
TEST(Recommend, SaysWhyAFasterModeIsLeftOut) {
  const auto busy = recommend(
      document_of({single("bf16-mixed", 14, 0.9), marked(single("32-true", 100, 0.9), "busy")}));
  EXPECT_EQ(busy.mode, "");
  EXPECT_THAT(busy.sentences[0], HasSubstr("the times cannot be judged, 32-true is marked busy"));
  // Only the slower one can owe its time to the others.
  const auto fast = recommend(
      document_of({marked(single("bf16-mixed", 14, 0.9), "busy"), single("32-true", 100, 0.9)}));
  EXPECT_EQ(fast.mode, "bf16-mixed");
  EXPECT_THAT(fast.sentences[1], HasSubstr("bf16-mixed is marked busy (because): bf16-mixed is at "
                                           "least 7.1 times faster all the same."));
}

// Half a point is where a loss begins.
TEST(Recommend, ATenthOfAPointIsNoLoss) {
  const auto mode = [](const char* name, double seconds, double accuracy) {
    std::vector<RunRecord> runs;
    for (int64_t seed = 1; seed <= 5; ++seed) {
      const double step = 1e-5 * static_cast<double>(seed * seed);
      runs.push_back(run_of(seed, 0, seconds, kMiB, accuracy + step * (seconds < 90 ? 1 : 2)));
    }
    return mode_of(name, runs);
  };
  EXPECT_EQ(recommend(document_of({mode("16-mixed", 50, 0.899), mode("32-true", 100, 0.9)})).mode,
            "16-mixed");
  EXPECT_EQ(recommend(document_of({mode("16-mixed", 50, 0.89), mode("32-true", 100, 0.9)})).mode,
            "32-true");
}

// -2 and -4 points: the second seed takes nothing back from the first.
TEST(Recommend, TwoSeedsOfALossAreALoss) {
  const auto mode = [](const char* name, double seconds, double first, double second) {
    return mode_of(name, {run_of(1, 0, seconds, kMiB, first), run_of(2, 0, seconds, kMiB, second)});
  };
  EXPECT_EQ(
      recommend(document_of({mode("16-true", 50, 0.88, 0.86), mode("32-true", 100, 0.9, 0.9)}))
          .mode,
      "32-true");
}

TEST(Recommend, TellsTheSpeedOfAModeThatSavesMemory) {
  EXPECT_THAT(
      all_of(document_of({single("16-mixed", 122, 0.9, 50 * kMiB), single("32-true", 100, 0.9)})),
      HasSubstr("16-mixed needs 50 % less memory, and was 1.22 times slower, which may be noise."));
  const auto repeated = [](const char* name, double seconds, int64_t bytes) {
    std::vector<RunRecord> runs;
    for (int64_t i = 0; i < 5; ++i) {
      runs.push_back(run_of(1, i, seconds + 0.1 * static_cast<double>(i), bytes, 0.9));
    }
    return mode_of(name, runs);
  };
  EXPECT_THAT(all_of(document_of(
                  {repeated("16-mixed", 110, 50 * kMiB), repeated("32-true", 100, 100 * kMiB)})),
              HasSubstr("16-mixed needs 50 % less memory, and is 1.10 ± 0.00 times slower."));
}

TEST(Recommend, ThreePercentOfMemoryDoNotPayForAFifthOfTheTime) {
  const auto result = recommend(
      document_of({single("16-mixed", 50, 0.9, 80 * kMiB),
                   single("bf16-true", 60.6, 0.9, 77 * kMiB), single("32-true", 100, 0.9)}));
  EXPECT_EQ(result.mode, "16-mixed");
}

// The baseline's machine was another: that says nothing against the modes of this one.
TEST(Recommend, WhateverMachineTheBaselineHad) {
  const auto result =
      recommend(document_of({marked(single("16-mixed", 50, 0.9), "other-machine"),
                             marked(single("32-true", 100, 0.9), "other-machine")}));
  EXPECT_EQ(result.mode, "16-mixed");
}

TEST(Recommend, TheSmallerOfTwoThatAreEquallyFast) {
  const auto result = recommend(
      document_of({single("16-mixed", 50, 0.9, 80 * kMiB), single("bf16-true", 52, 0.9, 50 * kMiB),
                   single("32-true", 100, 0.9)}));
  EXPECT_EQ(result.mode, "bf16-true");
}

TEST(Recommend, ADeadModeNever) {
  const auto result = recommend(
      document_of({marked(single("16-true", 50, 0.1), "at-chance"), single("32-true", 100, 0.1)}));
  EXPECT_EQ(result.mode, "32-true");
  EXPECT_THAT(result.sentences,
              ElementsAre("Use 32-true here: no other mode gave a usable result."));
}

TEST(Recommend, NothingWhereThereIsNothingToCompare) {
  const auto result = recommend(document_of({single("32-true", 100, 0.9)}));
  EXPECT_EQ(result.mode, "");
  EXPECT_THAT(result.sentences, ElementsAre("Only 32-true was run: there is nothing to compare."));
}

TEST(Recommend, NothingWhereNoModeLearned) {
  const auto result = recommend(document_of({marked(single("16-true", 50, 0.1), "at-chance"),
                                             marked(single("32-true", 100, 0.1), "at-chance")}));
  EXPECT_EQ(result.mode, "");
  EXPECT_EQ(result.code, "");
  EXPECT_THAT(result.sentences[0], HasSubstr("no mode learned anything"));
}

TEST(Recommend, NothingWhereLaunchesWereTimed) {
  const auto result = recommend(
      document_of({single("16-mixed", 50, 0.9), marked(single("32-true", 100, 0.9), "too-small")}));
  EXPECT_EQ(result.mode, "");
  EXPECT_THAT(result.sentences[0], HasSubstr("too small for this device"));
  EXPECT_THAT(result.sentences[0], HasSubstr("--config gpu-quick"));
}

TEST(Recommend, NothingFromADebugBuild) {
  const auto result = recommend(document_of({marked(single("16-mixed", 50, 0.9), "debug-build"),
                                             marked(single("32-true", 100, 0.9), "debug-build")}));
  EXPECT_EQ(result.mode, "");
  EXPECT_THAT(result.sentences[0], HasSubstr("32-true is marked debug-build"));
}

TEST(Recommend, SaysWhoTakesThePlaceOfAReferenceThatDoesNotFit) {
  const auto result = recommend(
      document_of({failed_mode("32-true", Status::oom, "no memory"), single("16-mixed", 50, 0.9)}));
  EXPECT_THAT(result.sentences[0], HasSubstr("32-true does not fit at batch 64; 16-mixed does"));
}

// The session names the mode that took its place in the document.
TEST(Recommend, SaysSoWhenTheDocumentNamesTheSubstitute) {
  ResultDocument document =
      document_of({failed_mode("32-true", Status::timeout, "90s"), single("16-mixed", 50, 0.9)});
  document.reference = "16-mixed";
  EXPECT_THAT(recommend(document).sentences[0],
              HasSubstr("32-true timed out; 16-mixed takes its place"));
}

TEST(Recommend, NothingWithoutAnyRun) {
  const auto result =
      recommend(document_of({failed_mode("32-true", Status::error, "killed by signal 9")}));
  EXPECT_THAT(result.sentences, ElementsAre("No recommendation: no mode finished."));
}

TEST(Recommend, SaysThatACpuSaysNothingAboutAGpu) {
  ResultDocument document =
      document_of({single("bf16-mixed", 50, 0.9), single("32-true", 100, 0.9)});
  document.environment["device"]["kind"] = "cpu";
  EXPECT_EQ(recommend(document).closing, "This says nothing about a GPU: run it there too.");
}

TEST(CodeFor, AModeThatFabricDoesNotHave) {
  EXPECT_THAT(code_for("tf32"), HasSubstr("set_float32_matmul_precision(\"high\")"));
  EXPECT_THAT(code_for("bf16-mixed", 2),
              HasSubstr("Fabric(precision=\"bf16-mixed\", devices=2, strategy=\"ddp\")"));
  EXPECT_EQ(code_for("<script>"), "");
}

}  // namespace
}  // namespace precbench::judge_recommend_test
