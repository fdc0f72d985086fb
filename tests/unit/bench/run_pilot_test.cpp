#include <gtest/gtest.h>

#include "bench/run/pilot.h"

namespace precbench::run_pilot_test {
namespace {

TEST(Pilot, RunSizeCountsPartialBatchesAndAccumulation) {
  TrainJob job;
  job.batch_size = 128;
  job.epochs = 2;
  job.eval_every = 1;
  // 60,000 / 128 = 468.75 -> 469 steps an epoch; 10,000 / 128 = 78.1 -> 79 batches an evaluation.
  EXPECT_EQ(run_size(job, 60000, 10000).train_steps, 938);
  EXPECT_EQ(run_size(job, 60000, 10000).eval_batches, 158);
  job.optimizer.accumulate = 2;
  EXPECT_EQ(run_size(job, 60000, 10000).train_steps, 470);
}

TEST(Pilot, StepsOverrideEpochs) {
  TrainJob job;
  job.batch_size = 100;
  job.steps = 250;  // two and a half epochs of 100 steps
  EXPECT_EQ(run_size(job, 10000, 1000).train_steps, 250);
  EXPECT_EQ(run_size(job, 10000, 1000).eval_batches, 30);
  job.eval_every = 0;
  EXPECT_EQ(run_size(job, 10000, 1000).eval_batches, 10);
}

TEST(Pilot, ProjectionCountsTheFirstStepApart) {
  RunRecord pilot;
  pilot.time.step_ms.samples = {5000.0, 100.0, 110.0};
  pilot.time.first_step_s = 5.0;
  pilot.time.eval_s = 0.02;
  // 5 s + 99 x 0.110 s (upper median of two) + 10 x 0.02 s
  const PilotRecord record = projected(pilot, {100, 10});
  ASSERT_TRUE(record.projected_s);
  EXPECT_NEAR(*record.projected_s, 5.0 + 99 * 0.110 + 0.2, 1e-9);
  EXPECT_EQ(record.steps, 3);
}

TEST(Pilot, WithoutAStepNothingIsProjectedAndTheReasonIsKept) {
  const PilotRecord record = projected(RunRecord{}, {100, 10});
  EXPECT_FALSE(record.projected_s);
  EXPECT_EQ(record.unknown.count("projected_s"), 1U);
}

TEST(Pilot, TakesTwentyStepsOfTheReferenceWhereNothingElseRepeatsThem) {
  Plan plan;
  plan.modes = {find_mode("16-mixed"), find_mode("32-true")};
  plan.reference = plan.modes[1];
  plan.seeds = {42};
  plan.config["pilot"] = {{"value", 3}, {"source", "default"}};
  EXPECT_EQ(pilot_steps(plan, plan.modes[0], {100, 10}), 3);
  EXPECT_EQ(pilot_steps(plan, plan.modes[1], {100, 10}), 20);
  EXPECT_EQ(pilot_steps(plan, plan.modes[1], {12, 10}), 12);
  plan.repeats = 2;
  EXPECT_EQ(pilot_steps(plan, plan.modes[1], {100, 10}), 3);
  plan.repeats = 1;
  plan.config["pilot"]["source"] = "flag";
  EXPECT_EQ(pilot_steps(plan, plan.modes[1], {100, 10}), 3);
}

// A cosine over 20 steps is not the beginning of one over 400.
TEST(Pilot, RepeatsTheRunUnderAConstantScheduleOnly) {
  TrainJob job;
  EXPECT_TRUE(repeats_the_run(job));
  job.schedule.name = "cosine";
  EXPECT_FALSE(repeats_the_run(job));
}

TEST(Pilot, PilotsWriteNoFiles) {
  TrainJob job;
  job.save_weights = "w.pt";
  job.dump_trace = "t.txt";
  const TrainJob pilot = pilot_job(job, 3);
  EXPECT_TRUE(pilot.pilot);
  EXPECT_EQ(pilot.steps, 3);
  EXPECT_TRUE(pilot.save_weights.empty());
  EXPECT_TRUE(pilot.dump_trace.empty());
}

}  // namespace
}  // namespace precbench::run_pilot_test
