#include <cmath>
#include <limits>

#include "support.h"
#include "train/models/onednn_linear.h"
#include "train/probe/attention_times.h"
#include "train/probe/number_format.h"
#include "train/probe/rates.h"

namespace precbench::train::probe_test {
namespace {

struct Expected {
  at::ScalarType type;
  double max, smallest_normal, smallest_subnormal, epsilon;
};

class NumberProperties : public ::testing::TestWithParam<Expected> {};

// IEEE 754 binary16, binary32, binary64; bfloat16 is binary32 with 8 bits of precision.
TEST_P(NumberProperties, AreThoseOfTheFormat) {
  const json found = number_properties(torch::kCPU, GetParam().type);
  EXPECT_EQ(found.at("max"), GetParam().max);
  EXPECT_EQ(found.at("smallest_normal"), GetParam().smallest_normal);
  EXPECT_EQ(found.at("smallest_subnormal"), GetParam().smallest_subnormal);
  EXPECT_EQ(found.at("epsilon"), GetParam().epsilon);
  EXPECT_EQ(found.at("overflow"), "inf");
  EXPECT_EQ(found.at("flushes_subnormals"), false);
}

INSTANTIATE_TEST_SUITE_P(
    Probe, NumberProperties,
    ::testing::Values(Expected{at::kHalf, 65504, 0x1p-14, 0x1p-24, 0x1p-10},
                      Expected{at::kBFloat16, 0x1.FEp127, 0x1p-126, 0x1p-133, 0x1p-7},
                      Expected{at::kFloat, 0x1.FFFFFEp127, 0x1p-126, 0x1p-149, 0x1p-23},
                      Expected{at::kDouble, std::numeric_limits<double>::max(), 0x1p-1022,
                               std::numeric_limits<double>::denorm_min(), 0x1p-52}));

// PyTorch's CPU kernels sum products of the 16-bit formats in float32.
TEST(NumberProperties, TellAWiderSumFromOneInTheFormat) {
  EXPECT_EQ(number_properties(torch::kCPU, at::kBFloat16).at("gemm_accumulates"), "wider");
  EXPECT_EQ(number_properties(torch::kCPU, at::kFloat).at("gemm_accumulates"), "same");
  EXPECT_TRUE(number_properties(torch::kCPU, at::kDouble).at("gemm_accumulates").is_null());
}

TEST(NumberProperties, SeeFlushedSubnormals) {
  ASSERT_TRUE(at::globalContext().setFlushDenormal(true));
  const json found = number_properties(torch::kCPU, at::kFloat);
  at::globalContext().setFlushDenormal(false);
  EXPECT_EQ(found.at("flushes_subnormals"), true);
  EXPECT_TRUE(found.at("smallest_subnormal").is_null());
}

TEST(Rates, OfALinearLayerByBothLibraries) {
  CpuDevice device;
  const json rates = linear_rates(device, 0.0);
  EXPECT_GE(rates.at("samples"), 3);
  EXPECT_GT(rates.at("default"), 0);
  EXPECT_EQ(rates.at("onednn").is_number(), has_onednn_linear());
  EXPECT_FALSE(rates.contains("tflops"));
}

TEST(Rates, AddUp) {
  CpuDevice device;
  for (const json& rate :
       {gemm_rate(device, at::kFloat, 0.0), convolution_rate(device, at::kFloat, 0.0),
        float8_gemm_rate(device, 0.0)}) {
    EXPECT_GE(rate.at("samples"), 3);
    EXPECT_LE(rate.at("low"), rate.at("tflops"));
    EXPECT_LE(rate.at("tflops"), rate.at("high"));
    EXPECT_GT(rate.at("forward"), 0);
  }
}

TEST(AttentionTimes, AreOfBothComputations) {
  CpuDevice device;
  for (const char* model : {"vit_tiny", "gpt"}) {
    TrainJob job = small_job("bf16-mixed");
    job.model = model;
    job.model_options = {{job.model == "gpt" ? "layers" : "depth", 1}};
    job.dataset.synthetic_shape = {3, 32, 32};
    if (job.model == "gpt") job.dataset.context = 16;
    job.batch_size = 2;
    const json times = attention_times(job, device, /*seconds=*/0.0);
    EXPECT_GT(times["default_s"], 0.0);
    EXPECT_GT(times["math_s"], 0.0);
    EXPECT_EQ(times["samples"], 1);
    EXPECT_TRUE(at::globalContext().userEnabledFlashSDP());
  }
}

}  // namespace
}  // namespace precbench::train::probe_test
