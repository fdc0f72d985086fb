#include <gtest/gtest.h>

#include "bench/plan/resolve_device.h"
#include "common/errors.h"
#include "plan_resolving.h"

namespace precbench::plan_resolve_device_test {
namespace {

using testing::planned;

constexpr GemmRates kMklIsSlow = {0.22, 0.47};  // an EPYC with two cores

Plan on(bool is_cuda, const GivenFlags& flags, const GemmRates& rates = {1.0, 1.0}) {
  Plan plan = planned(flags);
  resolve_for_device(plan, is_cuda, [&] { return rates; });
  return plan;
}

std::string impl(const GivenFlags& flags, const char* mode, bool is_cuda) {
  return job_for(on(is_cuda, flags), *find_mode(mode), 1, is_cuda).optimizer.impl;
}

// torch/optim/optimizer.py, _default_to_fused_or_foreach: foreach for CUDA tensors, never fused.
TEST(ResolveDevice, TakesPythonsOptimizerImplementationInFabric) {
  for (const char* optimizer : {"sgd", "adam", "adamw"}) {
    EXPECT_EQ(impl({{"optimizer", {optimizer}}}, "32-true", false), "loop");
    EXPECT_EQ(impl({{"optimizer", {optimizer}}}, "32-true", true), "foreach");
  }
}

TEST(ResolveDevice, FusesInTunedWhereFusedIsCorrect) {
  const GivenFlags sgd = {{"profile", {"tuned"}}};
  const GivenFlags adamw = {{"profile", {"tuned"}}, {"optimizer", {"adamw"}}};
  for (const char* mode : {"16-true", "bf16-true"}) {
    EXPECT_EQ(impl(sgd, mode, false), "loop") << mode;  // pytorch#191763
    EXPECT_EQ(impl(sgd, mode, true), "fused") << mode;
    EXPECT_EQ(impl(adamw, mode, false), "fused") << mode;
  }
  for (const char* mode : {"32-true", "16-mixed", "bf16-mixed", "64-true"}) {
    EXPECT_EQ(impl(sgd, mode, false), "fused") << mode;
  }
}

TEST(ResolveDevice, LeavesWhatWasAskedFor) {
  EXPECT_EQ(impl({{"profile", {"tuned"}}, {"optimizer-impl", {"foreach"}}}, "32-true", false),
            "foreach");
  const Plan plan =
      on(false, {{"profile", {"tuned"}}, {"gemm", {"default"}}, {"memory-format", {"contiguous"}}},
         kMklIsSlow);
  EXPECT_EQ(plan.job.gemm, "default");
  EXPECT_FALSE(plan.gemm_rates.has_value());
  EXPECT_EQ(plan.job.memory_format, "contiguous");
}

TEST(ResolveDevice, FabricIsPlain) {
  const Plan plan = on(false, {}, kMklIsSlow);
  EXPECT_FALSE(plan.gemm_rates.has_value());
  EXPECT_EQ(plan.job.memory_format, "contiguous");
  EXPECT_EQ(plan.job.gemm, "default");
  EXPECT_FALSE(plan.job.tuned_malloc);
}

TEST(ResolveDevice, TunedLaysOutConvolutionalModelsAsChannelsLast) {
  EXPECT_EQ(on(false, {{"profile", {"tuned"}}}).job.memory_format, "channels_last");
  EXPECT_EQ(on(false, {{"profile", {"tuned"}}, {"model", {"mlp"}}}).job.memory_format,
            "contiguous");
}

TEST(ResolveDevice, TunedTakesTheProductThatIsFasterHere) {
  const GivenFlags tuned = {{"profile", {"tuned"}}};
  EXPECT_EQ(on(false, tuned, kMklIsSlow).job.gemm, "onednn");
  EXPECT_EQ(on(false, tuned, {0.47, 0.22}).job.gemm, "default");
  // Within a tenth the bits of PyTorch's own product count for more.
  EXPECT_EQ(on(false, tuned, {0.40, 0.43}).job.gemm, "default");
  EXPECT_EQ(on(false, tuned, {0.40, std::nullopt}).job.gemm, "default");
  EXPECT_EQ(on(true, tuned, kMklIsSlow).job.gemm, "default");
}

TEST(ResolveDevice, MeasuresOnceAndOnlyWhereItDecidesSomething) {
  int asked = 0;
  const auto measure = [&] {
    ++asked;
    return kMklIsSlow;
  };
  Plan on_a_card = planned({{"profile", {"tuned"}}});
  resolve_for_device(on_a_card, true, measure);
  Plan fabric = planned({});
  resolve_for_device(fabric, false, measure);
  Plan given = planned({{"profile", {"tuned"}}, {"gemm", {"onednn"}}});
  resolve_for_device(given, false, measure);
  EXPECT_EQ(asked, 0);
  Plan tuned = planned({{"profile", {"tuned"}}});
  resolve_for_device(tuned, false, measure);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(tuned.gemm_rates->onednn, 0.47);
}

TEST(ResolveDevice, WhatCannotBeMeasuredIsPyTorchsOwn) {
  Plan plan = planned({{"profile", {"tuned"}}});
  resolve_for_device(plan, false, []() -> GemmRates { throw DeviceError("no answer"); });
  EXPECT_EQ(plan.job.gemm, "default");
  EXPECT_EQ(plan.gemm_rates_unknown, "no answer");
}

TEST(JobFor, TakesTheAttentionThatIsWorthIt) {
  Plan plan = planned({{"profile", {"tuned"}}});
  plan.attention_times[Dtype::bfloat16] = {0.268, 0.179};
  plan.attention_times[Dtype::float32] = {0.277, 0.275};
  const auto attention = [&plan](const char* mode) {
    return job_for(plan, *find_mode(mode), 1, false).attention;
  };
  EXPECT_EQ(attention("bf16-mixed"), "math");
  EXPECT_EQ(attention("bf16-true"), "math");
  EXPECT_EQ(attention("32-true"), "default");
  EXPECT_EQ(attention("16-mixed"), "default");  // not measured
  plan.job.attention = "default";
  EXPECT_EQ(attention("bf16-mixed"), "default");
  plan.job.attention = "math";
  EXPECT_EQ(attention("16-mixed"), "math");
}

TEST(ResolveDevice, TunesMallocOnCpusOnly) {
  EXPECT_TRUE(on(false, {{"profile", {"tuned"}}}).job.tuned_malloc);
  EXPECT_FALSE(on(true, {{"profile", {"tuned"}}}).job.tuned_malloc);
}

TEST(JobFor, HasTheModeAndTheSeed) {
  const TrainJob job =
      job_for(planned({{"batch-size", {"17"}}}), *find_mode("bf16-true"), 4294967295U, false);
  EXPECT_EQ(job.mode, "bf16-true");
  EXPECT_EQ(job.seed, 4294967295U);
  EXPECT_EQ(job.batch_size, 17);
}

}  // namespace
}  // namespace precbench::plan_resolve_device_test
