#include "train/float8/float8_scaling.h"

#include <cmath>
#include <limits>

#include "../support.h"

namespace precbench::train::float8_scaling_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Float8Job delayed(int64_t history, const std::string& amax = "max", int64_t margin = 0) {
  return {"delayed", margin, history, amax};
}

// A tensor whose largest magnitude is `amax`.
torch::Tensor with_amax(float amax) { return torch::tensor({0.0F, -amax, amax / 2}); }

// The scale after each pass over a tensor of the given amax.
std::vector<float> scales_after(const Float8Job& recipe, const std::vector<float>& amaxes,
                                Float8Format format = Float8Format::e4m3) {
  Float8Scaling scaling(format, recipe);
  std::vector<float> scales;
  for (const float amax : amaxes) {
    scaling.quantize(with_amax(amax), true);
    scaling.update();
    scales.push_back(scaling.scale().item<float>());
  }
  return scales;
}

using Scales = std::vector<float>;

// 448 / amax of the last `history` passes; by hand.
TEST(DelayedScaling, FollowsTheLargestOfTheHistory) {
  EXPECT_EQ(scales_after(delayed(1024), {2, 2, 2}), (Scales{224, 224, 224}));
  EXPECT_EQ(scales_after(delayed(1024), {1, 2, 4}), (Scales{448, 224, 112}));
  EXPECT_EQ(scales_after(delayed(1), {4, 2, 1}), (Scales{112, 224, 448}));
  EXPECT_EQ(scales_after(delayed(2), {4, 2, 1}), (Scales{112, 112, 224}));
  EXPECT_EQ(scales_after(delayed(1024), {4, 2, 1}), (Scales{112, 112, 112}));
}

TEST(DelayedScaling, ForgetsASpikeWhenTheHistoryIsOver) {
  EXPECT_EQ(scales_after(delayed(1), {1, 64, 1, 1, 1}), (Scales{448, 7, 448, 448, 448}));
  EXPECT_EQ(scales_after(delayed(2), {1, 64, 1, 1, 1}), (Scales{448, 7, 7, 448, 448}));
  EXPECT_EQ(scales_after(delayed(1024), {1, 64, 1, 1, 1}), (Scales{448, 7, 7, 7, 7}));
  EXPECT_EQ(scales_after(delayed(1024, "most_recent"), {1, 64, 1, 1, 1}),
            (Scales{448, 7, 448, 448, 448}));
}

// A whole history passes before the spike is gone.
TEST(DelayedScaling, KeepsASpikeForExactlyTheHistory) {
  std::vector<float> amaxes(1026, 1.0F);
  amaxes[0] = 64;
  const auto scales = scales_after(delayed(1024), amaxes);
  EXPECT_EQ(scales[1023], 7.0F);
  EXPECT_EQ(scales[1024], 448.0F);
}

TEST(DelayedScaling, KeepsTheScaleOnZeroInfinityAndNan) {
  EXPECT_EQ(scales_after(delayed(1), {0, 0}), (Scales{1, 1}));
  EXPECT_EQ(scales_after(delayed(1), {2, 0, 4}), (Scales{224, 224, 112}));
  EXPECT_EQ(scales_after(delayed(2), {2, 0, 0}), (Scales{224, 224, 224}));
  EXPECT_EQ(scales_after(delayed(1), {2, kInf, 4}), (Scales{224, 224, 112}));
  EXPECT_EQ(scales_after(delayed(2), {2, kInf, 4, 8, 8}), (Scales{224, 224, 224, 56, 56}));
  EXPECT_EQ(scales_after(delayed(1024), {2, kInf, 4, 8}), (Scales{224, 224, 224, 224}));
  EXPECT_EQ(scales_after(delayed(2), {2, kNan, 4, 8}), (Scales{224, 224, 224, 56}));
}

TEST(DelayedScaling, MarginHalvesAndTinyAmaxStaysFinite) {
  EXPECT_EQ(scales_after(delayed(1, "max", 1), {2}), (Scales{112}));
  EXPECT_EQ(scales_after(delayed(1, "max", 3), {2}), (Scales{28}));
  // 448 / 1e-38 is beyond float32.
  EXPECT_EQ(scales_after(delayed(1), {1e-38F}), (Scales{std::numeric_limits<float>::max()}));
  EXPECT_EQ(scales_after(delayed(1), {2}, Float8Format::e5m2), (Scales{28672}));
}

TEST(DelayedScaling, QuantizesWithTheScaleOfEarlierPasses) {
  Float8Scaling scaling(Float8Format::e4m3, delayed(1024));
  EXPECT_EQ(scaling.quantize(with_amax(4), true).inverse_scale.item<float>(), 1.0F);
  scaling.update();
  const Float8Tensor next = scaling.quantize(with_amax(8), true);  // beyond what was seen: clipped
  EXPECT_EQ(next.inverse_scale.item<float>(), 1.0F / 112);
  EXPECT_EQ(next.data.to(torch::kFloat)[1].item<float>(), -448.0F);
}

TEST(DelayedScaling, OnePassMayHoldSeveralTensors) {
  Float8Scaling scaling(Float8Format::e4m3, delayed(2));
  scaling.quantize(with_amax(8), true);
  scaling.quantize(with_amax(2), true);
  scaling.update();
  EXPECT_EQ(scaling.scale().item<float>(), 56.0F);
  EXPECT_EQ(scaling.amax(), 8.0);
}

TEST(DelayedScaling, EvaluationAndEmptyPassesChangeNothing) {
  Float8Scaling scaling(Float8Format::e4m3, delayed(2));
  scaling.quantize(with_amax(2), true);
  scaling.update();
  const auto history = scaling.history().clone();
  for (int i = 0; i < 3; ++i) {
    scaling.quantize(with_amax(100), false);
    scaling.update();
  }
  EXPECT_EQ(scaling.scale().item<float>(), 224.0F);
  EXPECT_TRUE(scaling.history().equal(history));
}

TEST(DynamicScaling, UsesTheTensorsOwnAmax) {
  const Float8Job dynamic = {"dynamic", 0, 1024, "max"};
  EXPECT_EQ(scales_after(dynamic, {1, 64, 2}), (Scales{448, 7, 224}));
  EXPECT_EQ(scales_after(dynamic, {2, 0, kInf, kNan, 4}), (Scales{224, 1, 1, 1, 112}));
  Float8Scaling scaling(Float8Format::e4m3, dynamic);
  scaling.quantize(with_amax(2), true);
  EXPECT_EQ(scaling.quantize(with_amax(4), false).inverse_scale.item<float>(), 1.0F / 112);
  EXPECT_EQ(scaling.scale().item<float>(), 224.0F);
  EXPECT_FALSE(scaling.history().defined());
}

std::vector<float> quantized(Float8Format format, const std::vector<float>& values) {
  Float8Scaling scaling(format, delayed(1));
  const torch::Tensor result = scaling.quantize(torch::tensor(values), true).data.to(torch::kFloat);
  return {result.data_ptr<float>(), result.data_ptr<float>() + result.numel()};
}

// LibTorch's own casts give NaN above 464 and infinity from 61440 on.
TEST(Float8Scaling, SaturatesWhatIsFinite) {
  EXPECT_EQ(quantized(Float8Format::e4m3, {448, 464, 465, 1e30F, -500}),
            (std::vector<float>{448, 448, 448, 448, -448}));
  EXPECT_EQ(quantized(Float8Format::e5m2, {57344, 61440, -1e30F}),
            (std::vector<float>{57344, 57344, -57344}));
}

TEST(Float8Scaling, NeverHidesWhatIsNotFinite) {
  for (const float value : quantized(Float8Format::e4m3, {kNan, kInf, -kInf})) {
    EXPECT_TRUE(std::isnan(value));
  }
  const auto wide = quantized(Float8Format::e5m2, {kNan, kInf, -kInf});
  EXPECT_TRUE(std::isnan(wide[0]));
  EXPECT_EQ(wide[1], kInf);
  EXPECT_EQ(wide[2], -kInf);
}

// At scale 1: 500 is clipped, 2^-10 rounds to zero (half of the smallest subnormal, ties to even),
// 2^-9 does not; zero and infinity are neither.
TEST(Float8Scaling, CountsWhatIsClippedAndFlushed) {
  Float8Scaling scaling(Float8Format::e4m3, delayed(1));
  scaling.count(true);
  scaling.quantize(torch::tensor({500.0F, 448.0F, 0x1p-10F, 0x1p-9F, 0.0F, kInf}), true);
  scaling.count(false);
  scaling.quantize(torch::tensor({500.0F}), true);
  EXPECT_EQ(scaling.counts().elements, 6);
  EXPECT_EQ(scaling.counts().clipped.item<int64_t>(), 1);
  EXPECT_EQ(scaling.counts().flushed.item<int64_t>(), 1);
}

}  // namespace
}  // namespace precbench::train::float8_scaling_test
