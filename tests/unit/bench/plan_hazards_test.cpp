#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/plan/hazards.h"

namespace precbench::plan_hazards_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Plan plan_for(const char* mode, const char* optimizer, const char* impl) {
  Plan plan;
  plan.modes = {find_mode("32-true"), find_mode(mode)};
  plan.job.optimizer.name = optimizer;
  plan.job.optimizer.impl = impl;
  plan.seeds = {42};
  plan.job.batch_size = 128;
  return plan;
}

// 1e-8 in float16 is 0, 1e-4 is not; the fused kernels compute in float32.
TEST(Hazards, TellOfAnEpsThatVanishesInFloat16) {
  for (const char* impl : {"loop", "foreach"}) {
    EXPECT_THAT(hazards(plan_for("16-true", "adamw", impl), false, ""),
                ElementsAre(HasSubstr("eps 1e-08 is 0 in float16: in 16-true adamw")));
  }
  EXPECT_THAT(hazards(plan_for("16-true", "adam", "fused"), false, ""), IsEmpty());
  EXPECT_THAT(hazards(plan_for("16-true", "sgd", "loop"), false, ""), IsEmpty());
  EXPECT_THAT(hazards(plan_for("16-mixed", "adamw", "loop"), false, ""), IsEmpty());
  Plan larger = plan_for("16-true", "adamw", "loop");
  larger.job.optimizer.eps = 1e-4;
  EXPECT_THAT(hazards(larger, false, ""), IsEmpty());
}

TEST(Hazards, TellOfSizesThatTensorCoresDoNotLike) {
  Plan plan = plan_for("bf16-mixed", "sgd", "loop");
  plan.job.batch_size = 100;
  EXPECT_THAT(hazards(plan, true, ""), ElementsAre(HasSubstr("no multiple of 8")));
  EXPECT_THAT(hazards(plan, false, ""), IsEmpty());
  plan.job.batch_size = 96;
  EXPECT_THAT(hazards(plan, true, ""), IsEmpty());
}

TEST(Hazards, TellOfModelsWithoutFp8Layers) {
  Plan plan = plan_for("transformer-engine", "sgd", "loop");
  EXPECT_THAT(hazards(plan, false, ""), IsEmpty());
  plan.job.model = "resnet18";
  EXPECT_THAT(hazards(plan, false, ""),
              ElementsAre("no layer of resnet18 runs in FP8 (its only Linear layer is the head): "
                          "transformer-engine computes in bfloat16 throughout"));
  plan.job.model = "torchscript";
  EXPECT_THAT(hazards(plan, false, ""), ElementsAre(HasSubstr("cannot be replaced")));
  plan.job.model = "mlp";
  plan.job.batch_size = 100;
  EXPECT_THAT(hazards(plan, true, ""), ElementsAre(HasSubstr("no multiple of 16")));
}

TEST(Hazards, TellOfTheVariableThatOverridesTf32) {
  EXPECT_THAT(hazards(plan_for("tf32", "sgd", "loop"), true, "0"),
              ElementsAre(HasSubstr("NVIDIA_TF32_OVERRIDE=0")));
}

}  // namespace
}  // namespace precbench::plan_hazards_test
