#include "train/simulated_gpu/attention_choice.h"

#include <ATen/Context.h>

#include "support.h"

namespace precbench::train::simulated::attention_choice_test {
namespace {

using at::SDPBackend;

AttentionCall call_of(at::ScalarType dtype, int64_t width = 64) {
  const torch::Tensor heads = torch::empty({2, 4, 16, width}, dtype);
  return {heads, heads, heads, std::nullopt, 0.0, false};
}

SDPBackend chosen(int capability, at::ScalarType dtype, int64_t width = 64) {
  return choose_attention(call_of(dtype, width), capability);
}

TEST(AttentionChoice, OnTuringIsMemoryEfficientInFp16AndFp32AndMathInBf16) {
  EXPECT_EQ(chosen(75, at::kHalf), SDPBackend::efficient_attention);
  EXPECT_EQ(chosen(75, at::kFloat), SDPBackend::efficient_attention);
  EXPECT_EQ(chosen(75, at::kBFloat16), SDPBackend::math);
}

TEST(AttentionChoice, FromAmpereOnIsFlashInBothHalfTypes) {
  for (const int capability : {80, 86, 89}) {
    EXPECT_EQ(chosen(capability, at::kHalf), SDPBackend::flash_attention);
    EXPECT_EQ(chosen(capability, at::kBFloat16), SDPBackend::flash_attention);
    EXPECT_EQ(chosen(capability, at::kFloat), SDPBackend::efficient_attention);
  }
}

TEST(AttentionChoice, OnHopperAndBlackwellIsCudnnFirst) {
  EXPECT_EQ(chosen(90, at::kBFloat16), SDPBackend::cudnn_attention);
  EXPECT_EQ(chosen(100, at::kHalf), SDPBackend::cudnn_attention);
  EXPECT_EQ(chosen(90, at::kHalf, 192), SDPBackend::flash_attention);  // too wide for cuDNN
}

TEST(AttentionChoice, HasNoFusedKernelForFloat64) {
  EXPECT_EQ(chosen(80, at::kDouble), SDPBackend::math);
}

TEST(AttentionChoice, FlashTakesNoMask) {
  AttentionCall call = call_of(at::kHalf);
  call.mask = torch::empty({16, 16});
  EXPECT_EQ(choose_attention(call, 80), SDPBackend::efficient_attention);
}

TEST(AttentionChoice, WantsAlignedWidths) {
  EXPECT_EQ(chosen(75, at::kHalf, 20), SDPBackend::math);  // tensor cores: multiples of 8
  EXPECT_EQ(chosen(60, at::kHalf, 20), SDPBackend::efficient_attention);
}

TEST(AttentionChoice, FollowsTheSwitches) {
  at::globalContext().setSDPUseFlash(false);
  EXPECT_EQ(chosen(80, at::kHalf), SDPBackend::efficient_attention);
  at::globalContext().setSDPUseFlash(true);
}

}  // namespace
}  // namespace precbench::train::simulated::attention_choice_test
