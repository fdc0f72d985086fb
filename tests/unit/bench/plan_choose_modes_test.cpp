// Which modes a plan has, and what cannot go together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/plan/make_plan.h"
#include "plan_resolving.h"

namespace precbench::plan_choose_modes_test {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::planned;
using ::testing::SizeIs;

TEST(MakePlan, RefusesWhatFabricRefuses) {
  for (const char* name : {"fp16", "float16", "BF16-mixed", "8", "1", "12", "invalid", "32-True"}) {
    EXPECT_THAT(error_of([&] { planned({{"modes", {name}}}); }), HasSubstr("unknown mode")) << name;
  }
  EXPECT_THAT(error_of([] {
                planned({{"modes", {"16-mixd"}}});
              }),
              HasSubstr("did you mean '16-mixed'?"));
  EXPECT_THAT(error_of([] {
                planned({{"modes", {"bfloat16"}}});
              }),
              HasSubstr("did you mean 'bf16-mixed' or 'bf16-true'?"));
}

TEST(MakePlan, AllAndNativeTakeTheWholeTable) {
  EXPECT_THAT(planned({{"modes", {"all"}}}).modes, SizeIs(std::size(kModes)));
  EXPECT_FALSE(planned({{"modes", {"all"}}}).native_modes_only);
  EXPECT_TRUE(planned({{"modes", {"native"}}}).native_modes_only);
  EXPECT_THAT(error_of([] { planned({{"modes", {"16-mixed,all"}}}); }), HasSubstr("stands alone"));
}

TEST(MakePlan, ChoosesTheReference) {
  EXPECT_EQ(planned({{"modes", {"64-true,16-true"}}}).reference->name, "64-true");
  EXPECT_EQ(planned({{"modes", {"64-true,32-true"}}}).reference->name, "32-true");
  EXPECT_EQ(planned({{"modes", {"64-true,32-true"}}, {"reference", {"64"}}}).reference->name,
            "64-true");
  EXPECT_THAT(error_of([] {
                planned({{"modes", {"64-true"}}, {"reference", {"32-true"}}});
              }),
              HasSubstr("--reference: mode 32-true is not among --modes"));
}

TEST(MakePlan, CarriesDurationsSizesAndDevices) {
  const Plan plan = planned({{"timeout", {"1.5h"}},
                             {"budget", {"15m"}},
                             {"memory-limit", {"2GiB"}},
                             {"device", {"cuda:1"}},
                             {"threads", {"3"}}});
  EXPECT_EQ(plan.timeout_s, 5400.0);
  EXPECT_EQ(plan.budget_s, 900.0);
  EXPECT_EQ(plan.job.memory_limit_bytes, int64_t{2} << 30);
  EXPECT_EQ(plan.device, "cuda:1");
  EXPECT_EQ(plan.threads, 3);
  for (const char* device : {"gpu", "cuda:", "cuda:-1", "cuda:x", "CPU", ""}) {
    EXPECT_NE(error_of([&] { planned({{"device", {device}}}); }), "") << device;
  }
}

TEST(MakePlan, RefusesWhatCannotGoTogether) {
  EXPECT_THAT(error_of([] {
                planned({{"optimizer", {"adam"}}, {"momentum", {"0.5"}}});
              }),
              HasSubstr("--momentum belongs to sgd; the optimizer is adam"));
  EXPECT_THAT(error_of([] {
                planned({{"momentum", {"0"}}, {"nesterov", {"true"}}});
              }),
              HasSubstr("momentum above 0"));
  EXPECT_THAT(error_of([] {
                planned({{"budget", {"5m"}}, {"pilot", {"0"}}});
              }),
              HasSubstr("--pilot is 0"));
  EXPECT_THAT(error_of([] { planned({{"save-weights", {"w.pt"}}}); }), HasSubstr("one mode"));
  EXPECT_THAT(error_of([] {
                planned({{"synthetic-shape", {"3,32"}}});
              }),
              HasSubstr("channels,height,width"));
  EXPECT_EQ(error_of([] { planned({{"save-weights", {"w.pt"}}, {"modes", {"16-true"}}}); }), "");
}

}  // namespace
}  // namespace precbench::plan_choose_modes_test
