// --target-accuracy: when a run reached it, which mode gets there first, and how often that is
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "bench/judge/recommend.h"
#include "bench/judge/target.h"
#include "bench/run/target.h"
#include "documents.h"
#include "plan_resolving.h"

namespace precbench::judge_target_test {
namespace {

using ::testing::Contains;
using testing::document_of;
using ::testing::HasSubstr;
using testing::mode_of;
using testing::run_of;

TrainResult result_with(const std::vector<double>& accuracies) {
  TrainResult result;
  result.train_samples = 1000;
  result.test_samples = 100;
  for (const double accuracy : accuracies) {
    EpochRecord epoch;
    epoch.epoch = static_cast<int64_t>(result.run.epochs.size()) + 1;
    if (accuracy >= 0) epoch.test_accuracy = accuracy;
    epoch.train_s = 2.0;
    epoch.eval_s = 0.5;
    result.run.epochs.push_back(epoch);
  }
  return result;
}

TEST(Target, IsReachedByTheFirstEvaluationThatShowsIt) {
  TrainJob job;
  job.batch_size = 96;  // 11 batches of 1000 samples
  job.optimizer.accumulate = 2;
  EXPECT_FALSE(target_of(job, result_with({0.9})));
  job.target_accuracy = 0.8;
  const auto target = target_of(job, result_with({0.7, -1, 0.8}));
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->is_reached);
  EXPECT_EQ(target->epoch, 3);
  EXPECT_EQ(target->steps, 18);  // six optimizer steps an epoch
  EXPECT_DOUBLE_EQ(*target->time_s, 7.5);
}

TEST(Target, ThatIsNotReachedSaysSo) {
  TrainJob job;
  job.target_accuracy = 0.8;
  const auto target = target_of(job, result_with({0.7, 0.79}));
  EXPECT_FALSE(target->is_reached);
  EXPECT_FALSE(target->epoch || target->steps || target->time_s);
  EXPECT_EQ(target->unknown.at("time_s"), "2 epochs did not reach it");
}

TEST(Target, OfATextIsAPerplexityFromAbove) {
  TrainJob job;
  job.target_perplexity = 12;
  TrainResult result = result_with({0.1, 0.2, 0.2});
  const std::vector<double> losses = {std::numeric_limits<double>::quiet_NaN(), std::log(12.1),
                                      std::log(12.0)};
  for (size_t i = 0; i < losses.size(); ++i) result.run.epochs[i].test_loss = losses[i];
  const auto target = target_of(job, result);
  ASSERT_TRUE(target);
  EXPECT_FALSE(target->accuracy);
  EXPECT_EQ(target->perplexity, 12);
  EXPECT_EQ(target->epoch, 3);
  result.run.epochs.pop_back();
  EXPECT_FALSE(target_of(job, result)->is_reached);
}

TEST(Target, OfATextIsRefusedForImagesAndBesideAnother) {
  const auto error_of = [](std::map<std::string, std::vector<std::string>> more) {
    return testing::error_of([&] { testing::planned(more); });
  };
  EXPECT_THAT(error_of({{"target-perplexity", {"12"}}}), HasSubstr("--target-accuracy"));
  EXPECT_THAT(
      error_of({{"model", {"gpt"}}, {"target-perplexity", {"12"}}, {"target-accuracy", {"0.5"}}}),
      HasSubstr("one target"));
  EXPECT_THAT(error_of({{"model", {"gpt"}}, {"target-perplexity", {"0.5"}}}), HasSubstr("from 1"));
  EXPECT_EQ(
      testing::planned({{"model", {"gpt"}}, {"target-perplexity", {"12"}}}).job.target_perplexity,
      12);
}

TEST(Target, NeedsEvaluationsOnTheWay) {
  EXPECT_THAT(testing::error_of([] {
                testing::planned({{"target-accuracy", {"0.8"}}, {"eval-every", {"0"}}});
              }),
              HasSubstr("--eval-every is 0"));
  EXPECT_THAT(testing::error_of([] {
                testing::planned({{"target-accuracy", {"87"}}});
              }),
              HasSubstr("from 0 to 1"));
}

// A run that took so long to reach 80 %; a negative time: it did not.
RunRecord run_to(int64_t seed, double time_s, int64_t epoch = 2) {
  RunRecord run = run_of(seed, 0, std::abs(time_s), 1000, 0.8);
  TargetRecord target;
  target.accuracy = 0.8;
  target.is_reached = time_s > 0;
  if (target.is_reached) {
    target.epoch = epoch;
    target.time_s = time_s;
  }
  run.target = target;
  return run;
}

ResultDocument document_to(std::vector<ModeRecord> modes) {
  ResultDocument document = document_of(std::move(modes));
  document.protocol["target_accuracy"] = 0.8;
  return document;
}

TEST(TargetAdvice, NamesWhoIsFirst) {
  const ResultDocument document =
      document_to({mode_of("bf16-mixed", {run_to(1, 10), run_to(2, 15), run_to(3, 20)}),
                   mode_of("32-true", {run_to(1, 21), run_to(2, 29), run_to(3, 41)})});
  const Recommendation advice = recommend(document);
  EXPECT_EQ(advice.mode, "bf16-mixed");
  // Seeds take 2.10, 1.93 and 2.05 times as long: the geometric mean is 2.03.
  EXPECT_THAT(advice.sentences,
              Contains(HasSubstr("it gets to 80 % test accuracy 2.03 times sooner "
                                 "(95 % interval")));
}

TEST(TargetAdvice, TellsAPerplexityAsOne) {
  ResultDocument document =
      document_of({mode_of("bf16-mixed", {run_to(1, 10)}), mode_of("32-true", {run_to(1, 40)})});
  document.protocol["target_perplexity"] = 9.5;
  for (ModeRecord& mode : document.modes) {
    mode.runs.front().target->accuracy.reset();
    mode.runs.front().target->perplexity = 9.5;
  }
  EXPECT_THAT(recommend(document).sentences, Contains(HasSubstr("gets to test perplexity 9.5")));
  EXPECT_EQ(target_note(document.modes[0]), "perplexity 9.5 after 2 epochs");
}

TEST(TargetAdvice, OneSeedDecidesNothing) {
  const ResultDocument document =
      document_to({mode_of("bf16-mixed", {run_to(1, 10)}), mode_of("32-true", {run_to(1, 40)})});
  const Recommendation advice = recommend(document);
  EXPECT_EQ(advice.mode, "32-true");
  EXPECT_THAT(advice.sentences, Contains(HasSubstr("One seed decides nothing")));
}

TEST(TargetAdvice, ARunThatDidNotGetThereKeepsItsModeFromBeingCompared) {
  const ResultDocument document =
      document_to({mode_of("bf16-mixed", {run_to(1, 10), run_to(2, 11), run_to(3, -90)}),
                   mode_of("16-mixed", {run_to(1, -90), run_to(2, -90), run_to(3, -90)}),
                   mode_of("32-true", {run_to(1, 40), run_to(2, 41), run_to(3, 42)})});
  const Recommendation advice = recommend(document);
  EXPECT_EQ(advice.mode, "32-true");
  EXPECT_THAT(advice.sentences, Contains(HasSubstr("bf16-mixed got to 80 % test accuracy in 2 of 3 "
                                                   "runs")));
  EXPECT_THAT(advice.sentences, Contains("16-mixed did not get to 80 % test accuracy."));
  EXPECT_EQ(target_note(document.modes[0]), "80 % in 2 of 3 runs");
  EXPECT_EQ(target_note(document.modes[1]), "80 % not reached");
  EXPECT_EQ(target_note(document.modes[2]), "80 % after 2 epochs");
}

TEST(TargetAdvice, WithoutAReferenceThatGotThereTellsWhoDid) {
  const ResultDocument document =
      document_to({mode_of("bf16-mixed", {run_to(1, 10)}), mode_of("32-true", {run_to(1, -40)})});
  const Recommendation advice = recommend(document);
  EXPECT_EQ(advice.mode, "bf16-mixed");
  EXPECT_THAT(advice.sentences, Contains("32-true did not get to 80 % test accuracy."));
  EXPECT_THAT(advice.sentences, Contains("bf16-mixed got there after 10.00s."));
}

// Both modes need 6 to 14 whole epochs, which differ between seeds; one's take 0.77 of the other's
// time. How often the interval holds the truth, and how often a mode without an advantage is called
// sooner, in 200 comparisons of three seeds.
TEST(TargetAdvice, ItsIntervalIsRight) {
  constexpr int kTrials = 200;
  std::mt19937_64 engine(7);
  const auto uniform = [&] { return static_cast<double>(engine() >> 11U) / 9007199254740992.0; };
  const auto time_to_target = [&](double epoch_s) {
    const double epochs = std::round(6 + 8 * (uniform() + uniform()) / 2);
    return epochs * epoch_s * (1 + 0.04 * (uniform() - 0.5));
  };
  for (const double ratio : {0.77, 1.0}) {
    int covered = 0, called_sooner = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<RunRecord> fast, slow;
      for (int64_t seed = 1; seed <= 3; ++seed) {
        fast.push_back(run_to(seed, time_to_target(10 * ratio)));
        slow.push_back(run_to(seed, time_to_target(10)));
      }
      const ResultDocument document =
          document_to({mode_of("bf16-mixed", fast), mode_of("32-true", slow)});
      const TargetStanding one = target_standings(document, document.modes[1]).front();
      covered += one.interval->low <= ratio && ratio <= one.interval->high ? 1 : 0;
      called_sooner += one.is_sooner() ? 1 : 0;
    }
    EXPECT_GE(covered, 0.9 * kTrials) << ratio;
    EXPECT_LT(covered, kTrials) << ratio << ": an interval that holds everything says nothing";
    if (ratio == 1.0) {
      EXPECT_LE(called_sooner, 0.06 * kTrials);
    }
  }
}

}  // namespace
}  // namespace precbench::judge_target_test
