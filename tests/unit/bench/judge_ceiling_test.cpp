#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/judge/ceiling.h"
#include "bench/probe/ceiling.h"

namespace precbench::judge_ceiling_test {
namespace {

DeviceFacts cpu() {
  DeviceFacts facts;
  facts.name = "AMD EPYC";
  return facts;
}

DeviceFacts t4() {
  DeviceFacts facts;
  facts.kind = "cuda";
  facts.name = "Tesla T4";
  facts.compute_capability = 75;
  return facts;
}

// As precbench probe keeps it.
json probe_of(const std::string& device) {
  const json formats = json::parse(R"({
    "float32": {"gemm": {"tflops": 0.5}, "convolution": {"tflops": 0.4}},
    "bfloat16": {"gemm": {"tflops": 0.9}, "convolution": {"tflops": 1.2}}})");
  return {{"environment", {{"device", {{"name", device}}}}}, {"formats", formats}};
}

ModeRecord ran_at(double tflops) {
  ModeRecord mode;
  mode.mode = "bf16-mixed";
  RunRecord run;
  run.time.tflops = tflops;
  mode.runs = {run};
  return mode;
}

TEST(Ceiling, IsTheFasterOfTheProbesProducts) {
  const auto ceiling = ceiling_of(*find_mode("bf16-mixed"), cpu(), probe_of("AMD EPYC"));
  ASSERT_TRUE(ceiling);
  EXPECT_EQ(ceiling->tflops, 1.2);
  EXPECT_EQ(ceiling->format, "bfloat16");
  EXPECT_EQ(ceiling->source, "precbench probe");
  EXPECT_EQ(ceiling_of(*find_mode("32-true"), cpu(), probe_of("AMD EPYC"))->tflops, 0.5);
}

TEST(Ceiling, IsUnknownWithoutAProbeOfThisDevice) {
  EXPECT_FALSE(ceiling_of(*find_mode("32-true"), cpu(), std::nullopt));
  EXPECT_FALSE(ceiling_of(*find_mode("32-true"), cpu(), probe_of("another")));
  EXPECT_FALSE(ceiling_of(*find_mode("64-true"), cpu(), probe_of("AMD EPYC")));
}

// 65 TFLOP/s of fp16 is NVIDIA's figure for the T4.
TEST(Ceiling, OfAGpuIsItsDataSheetsWhereNobodyMeasured) {
  const auto ceiling = ceiling_of(*find_mode("16-mixed"), t4(), std::nullopt);
  ASSERT_TRUE(ceiling);
  EXPECT_EQ(ceiling->tflops, 65);
  EXPECT_EQ(ceiling->source, "data sheet");
}

TEST(Ceiling, IsSetBesideTheRunsRate) {
  ModeRecord mode = ran_at(0.6);
  EXPECT_EQ(ceiling_note(mode), std::nullopt);
  mode.ceiling = Ceiling{1.2, "bfloat16", "precbench probe"};
  EXPECT_EQ(
      ceiling_note(mode),
      "0.6 TFLOP/s in matrix products and convolutions, 50 % of bfloat16's rate measured here "
      "(precbench probe)");
  EXPECT_FALSE(too_small_mark(mode));
}

TEST(Ceiling, FarBelowItLaunchesTakeTheTime) {
  ModeRecord mode = ran_at(0.65);
  mode.ceiling = Ceiling{65, "float16", "data sheet"};
  const auto mark = too_small_mark(mode);
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->id, "too-small");
  EXPECT_EQ(mark->why, "reaches 1.0 % of float16's rate: launches take the time");
}

}  // namespace
}  // namespace precbench::judge_ceiling_test
