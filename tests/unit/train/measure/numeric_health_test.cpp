#include "train/measure/numeric_health.h"

#include "../support.h"

namespace precbench::train::numeric_health_test {
namespace {

torch::Tensor parameter(at::ArrayRef<double> values, at::ArrayRef<double> gradient,
                        at::ScalarType type) {
  torch::Tensor made = torch::tensor(values, torch::kDouble).to(type).requires_grad_();
  made.mutable_grad() = torch::tensor(gradient, torch::kDouble).to(type);
  return made;
}

// In fp16 1e-9 is 0 (the smallest subnormal is 2^-24, about 6e-8), 1e-6 subnormal, 1e-4 normal.
TEST(NumericHealth, CountsGradientsThatVanishInFp16) {
  const std::vector<torch::Tensor> parameters = {
      parameter({1, 1, 1, 1}, {1e-9, 1e-6, 1e-4, -1e-6}, at::kHalf)};
  NumericHealth health(parameters, at::kHalf);
  health.before_step();
  health.after_step(2, 1.0, false);
  const json summary = health.summary({});
  EXPECT_EQ(summary.at("zero_gradient_share"), 0.25);
  EXPECT_EQ(summary.at("subnormal_gradient_share"), 0.5);
  EXPECT_EQ(summary.at("unmoved_weight_share"), 1.0);  // nobody moved them; three had a gradient
  EXPECT_EQ(summary.at("update_to_weight_ratio"), 0.0);
}

// 16-mixed: float32 gradients, unscaled by now; what counts is what they were in fp16.
TEST(NumericHealth, JudgesGradientsAsTheyWereWhenScaled) {
  const std::vector<torch::Tensor> parameters = {parameter({1, 1}, {0x1p-20, 0x1p-31}, at::kFloat)};
  NumericHealth health(parameters, at::kHalf);
  health.before_step();
  health.after_step(2, 65536.0, false);  // 2^-4 and 2^-15, below the smallest normal 2^-14
  EXPECT_EQ(health.summary({}).at("subnormal_gradient_share"), 0.5);
}

TEST(NumericHealth, MeasuresTheUpdateAndWhatDidNotMove) {
  const std::vector<torch::Tensor> parameters = {parameter({3, 4, 0}, {1, 1, 0}, at::kFloat)};
  NumericHealth health(parameters, at::kFloat);
  health.before_step();
  {
    torch::NoGradGuard no_grad;
    parameters[0].select(0, 0).sub_(0.5);
  }
  health.after_step(5, 1.0, false);
  const json summary = health.summary({});
  EXPECT_EQ(summary.at("unmoved_weight_share"), 0.5);    // 4 had a gradient and stayed
  EXPECT_EQ(summary.at("update_to_weight_ratio"), 0.1);  // 0.5 beside a norm of 5
  EXPECT_EQ(summary.at("sampled").at(0).at("step"), 5);
}

TEST(NumericHealth, LooksAtAFewStepsAndNeverAtTheOneOfTheMemoryProfile) {
  std::vector<int64_t> looked;
  for (int64_t step = 0; step <= 1000; ++step) {
    if (NumericHealth::wants(step)) looked.push_back(step);
  }
  EXPECT_EQ(looked, (std::vector<int64_t>{2, 5, 10, 20, 50, 100, 200, 500, 1000}));
}

// bfloat16 has 8 bits: an update of less than 1/512 of a weight is rounded away.
TEST(NumericHealth, SeesTheStallOfBf16True) {
  TrainJob job = small_job("bf16-true");
  job.optimizer.lr = 1e-6;
  job.optimizer.momentum = 0;
  const json stalled = run(job).run.numerics;
  EXPECT_GT(stalled.at("unmoved_weight_share"), 0.95);
  job.optimizer.lr = 0.5;
  EXPECT_LT(run(job).run.numerics.at("unmoved_weight_share"), 0.5);
}

TEST(NumericHealth, CountsAnInjectedInfinityAndTheScaleItCosts) {
  TrainJob job = small_job("16-mixed");
  job.steps = 4;
  job.inject_inf_at_step = 2;
  const json health = run(job).run.numerics;
  EXPECT_EQ(health.at("non_finite_steps"), 1);
  EXPECT_EQ(health.at("first_non_finite_step"), 2);
  EXPECT_EQ(health.at("scale"), json::parse("[[0, 65536.0], [2, 32768.0]]"));
  // The one sampled step is the skipped one: it tells nothing about weights.
  EXPECT_TRUE(health.at("unmoved_weight_share").is_null());
  EXPECT_TRUE(health.at("unknown").contains("unmoved_weight_share"));
}

// What is copied for looking at it is no memory of training.
TEST(NumericHealth, LeavesThePeakAsItIs) {
  TrainJob job = small_job("32-true");
  job.model = "mlp";
  job.steps = 2;  // not looked at yet
  const int64_t before = run(job).run.memory.peak_allocated_bytes.value();
  job.steps = 4;
  EXPECT_EQ(run(job).run.memory.peak_allocated_bytes, before);
}

}  // namespace
}  // namespace precbench::train::numeric_health_test
