#include <gtest/gtest.h>

#include "bench/judge/marks.h"
#include "bench/result/measured.h"
#include "documents.h"

namespace precbench::judge_marks_test {
namespace {

using testing::document_of;
using testing::mode_of;
using testing::run_of;

ResultDocument fashion(double test_accuracy) {
  ResultDocument document = document_of({mode_of("32-true", {run_of(42, 0, 1, 1, test_accuracy)})});
  document.protocol["dataset"] = "fashion-mnist";
  return document;
}

// Binomial(10000, 0.1) has mean 1000 and standard deviation 30; 3.09 of them (99.9 %) is 1093.
TEST(ChanceBound, OfTenThousandGuesses) { EXPECT_NEAR(chance_bound(10, 10000), 0.1093, 0.0002); }

TEST(AssignMarks, MarksADeadModel) {
  ResultDocument dead = fashion(0.1000), alive = fashion(0.1100);
  assign_marks(dead);
  assign_marks(alive);
  EXPECT_TRUE(has_mark(dead.modes[0], "at-chance"));
  EXPECT_FALSE(has_mark(alive.modes[0], "at-chance"));
}

// 11 % of 100 samples is well within chance, of 10,000 it is not.
TEST(AssignMarks, CountsTheSamplesThatWereTested) {
  ResultDocument document = fashion(0.1100);
  document.protocol["limit_test"] = 100;
  assign_marks(document);
  EXPECT_TRUE(has_mark(document.modes[0], "at-chance"));
}

// Of what the file tells: half of 40 samples of two classes is a guess.
TEST(AssignMarks, ReadsTheSizesOfAnyDataSet) {
  ResultDocument document = fashion(0.55);
  document.protocol["dataset"] = "mine.csv";
  document.protocol["classes"] = 2;
  document.protocol["test_samples"] = 40;
  assign_marks(document);
  EXPECT_TRUE(has_mark(document.modes[0], "at-chance"));
}

TEST(AssignMarks, SaysNothingOfChanceForUnknownData) {
  ResultDocument document = fashion(0.1);
  document.protocol["dataset"] = nullptr;
  assign_marks(document);
  EXPECT_FALSE(has_mark(document.modes[0], "at-chance"));
}

TEST(AssignMarks, MarksSingleRunsEmulationAndDebugBuilds) {
  ResultDocument document = fashion(0.9);
  document.modes[0].support = Support{SupportLevel::emulated, "native from Ampere (8.0)"};
  document.tool["build_type"] = "Debug";
  assign_marks(document);
  EXPECT_TRUE(has_mark(document.modes[0], "n=1"));
  EXPECT_TRUE(has_mark(document.modes[0], "emulated"));
  EXPECT_TRUE(has_mark(document.modes[0], "debug-build"));
}

TEST(AssignMarks, TwiceIsOnceAndKeepsOtherMarks) {
  ResultDocument document = fashion(0.9);
  document.modes[0].marks = {{"busy", "load 7"}, {"n=1", "stale"}};
  document.modes[0].runs.push_back(run_of(42, 1, 1, 1, 0.9));
  assign_marks(document);
  assign_marks(document);
  ASSERT_EQ(document.modes[0].marks.size(), 1U);
  EXPECT_EQ(document.modes[0].marks[0].id, "busy");
}

}  // namespace
}  // namespace precbench::judge_marks_test
