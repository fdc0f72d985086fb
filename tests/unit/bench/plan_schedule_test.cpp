#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/plan/schedule.h"

namespace precbench::plan_schedule_test {
namespace {

using ::testing::ElementsAre;

Plan plan_with(Order order, std::vector<uint32_t> seeds, int64_t repeats) {
  Plan plan;
  plan.modes = {find_mode("16-mixed"), find_mode("bf16-mixed"), find_mode("32-true")};
  plan.reference = find_mode("32-true");
  plan.seeds = std::move(seeds);
  plan.repeats = repeats;
  plan.order = order;
  return plan;
}

// "16-mixed/7/0" per run; a drift run ends in "!".
std::vector<std::string> runs_of(const Plan& plan) {
  std::vector<std::string> texts;
  for (const RunSlot& slot : schedule(plan, rows_of(plan))) {
    texts.push_back(slot.row.name() + "/" + std::to_string(slot.seed) + "/" +
                    std::to_string(slot.repeat) + (slot.role == Role::drift ? "!" : ""));
  }
  return texts;
}

TEST(Schedule, OneRoundIsTheOrderAskedForWithoutADriftRun) {
  EXPECT_THAT(runs_of(plan_with(Order::given, {42}, 1)),
              ElementsAre("16-mixed/42/0", "bf16-mixed/42/0", "32-true/42/0"));
}

TEST(Schedule, RotateStartsEachRoundOneModeLaterAndEndsWithTheFirstReferenceRun) {
  EXPECT_THAT(runs_of(plan_with(Order::rotate, {7}, 3)),
              ElementsAre("16-mixed/7/0", "bf16-mixed/7/0", "32-true/7/0",  //
                          "bf16-mixed/7/1", "32-true/7/1", "16-mixed/7/1",  //
                          "32-true/7/2", "16-mixed/7/2", "bf16-mixed/7/2",  //
                          "32-true/7/0!"));
}

TEST(Schedule, SeedsAreRoundsToo) {
  EXPECT_THAT(runs_of(plan_with(Order::rotate, {7, 8}, 1)),
              ElementsAre("16-mixed/7/0", "bf16-mixed/7/0", "32-true/7/0",  //
                          "bf16-mixed/8/0", "32-true/8/0", "16-mixed/8/0",  //
                          "32-true/7/0!"));
}

TEST(Schedule, GivenKeepsTheOrderInEveryRound) {
  EXPECT_THAT(runs_of(plan_with(Order::given, {7}, 2)),
              ElementsAre("16-mixed/7/0", "bf16-mixed/7/0", "32-true/7/0",  //
                          "16-mixed/7/1", "bf16-mixed/7/1", "32-true/7/1", "32-true/7/0!"));
}

TEST(Schedule, RandomRunsEverythingOnceARoundAndRepeatsWithTheSeed) {
  const Plan plan = plan_with(Order::random, {7}, 20);
  const std::vector<std::string> runs = runs_of(plan);
  EXPECT_EQ(runs, runs_of(plan));
  EXPECT_EQ(runs.size(), 61U);  // 20 rounds of 3, and the drift run
  EXPECT_EQ(std::set<std::string>(runs.begin(), runs.end()).size(), 61U);
  EXPECT_NE(runs, runs_of(plan_with(Order::random, {8}, 20)));
  std::set<std::string> first_of_round;
  for (size_t i = 0; i < 60; i += 3) first_of_round.insert(runs[i].substr(0, runs[i].find('/')));
  EXPECT_EQ(first_of_round.size(), 3U);  // by chance one in a thousand orders would miss a mode
}

TEST(Schedule, WithoutTheReferenceAmongWhatRunsThereIsNoDriftRun) {
  const Plan plan = plan_with(Order::rotate, {7}, 2);
  const auto slots = schedule(plan, {find_mode("16-mixed")});
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(slots.back().role, Role::measure);
}

TEST(Schedule, OrderIndexCountsTheRuns) {
  const Plan plan = plan_with(Order::rotate, {7, 8}, 2);
  int64_t expected = 0;
  for (const RunSlot& slot : schedule(plan, rows_of(plan))) EXPECT_EQ(slot.order_index, expected++);
  EXPECT_EQ(expected, 13);  // 2 seeds x 2 repeats x 3 modes, and the drift run
}

TEST(Schedule, NothingToRunIsNoRun) {
  EXPECT_TRUE(schedule(plan_with(Order::rotate, {7}, 2), {}).empty());
}

}  // namespace
}  // namespace precbench::plan_schedule_test
