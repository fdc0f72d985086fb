#include <gtest/gtest.h>

#include "bench/result/numeric_notes.h"

namespace precbench::result_numeric_notes_test {
namespace {

constexpr int64_t kSteps = 60;

ModeRecord mode_with(const std::string& name, const Samples& losses,
                     json numerics = json::object()) {
  ModeRecord mode;
  mode.mode = mode.effective_mode = name;
  RunRecord run;
  run.seed = 42;
  run.loss_trace = losses;
  run.numerics = std::move(numerics);
  mode.runs.push_back(run);
  return mode;
}

Samples constant(double loss) { return Samples(kSteps, std::optional<double>(loss)); }

TEST(LossDivergence, IsZeroBetweenEqualTraces) {
  const ModeRecord a = mode_with("32-true", constant(0.5));
  const json found = loss_divergence_json(a, a);
  EXPECT_EQ(found.at("largest"), 0.0);
  EXPECT_TRUE(found.at("beyond_since").is_null());
  EXPECT_TRUE(found.at("unknown").contains("beyond_since"));
}

// From step 30 on the loss is 1 instead of 0.5. A window of 20 steps is 10 % beyond when two or
// more of them are doubled: 2 * 0.5 / (20 * 0.5) = 10 %, which is not beyond, so at the third.
TEST(LossDivergence, NamesTheFirstWindowBeyondTheBand) {
  Samples losses = constant(0.5);
  for (size_t i = 30; i < losses.size(); ++i) losses[i] = 1.0;
  const json found =
      loss_divergence_json(mode_with("bf16-true", losses), mode_with("32-true", constant(0.5)));
  EXPECT_EQ(found.at("beyond_since"), 32);
  EXPECT_EQ(found.at("largest"), 1.0);
  EXPECT_EQ(found.at("largest_at"), 49);
}

TEST(LossDivergence, NeedsTheSameSeedAndStrideAndAWindowOfSteps) {
  const ModeRecord reference = mode_with("32-true", constant(0.5));
  ModeRecord other = mode_with("bf16-true", constant(0.5));
  other.runs[0].seed = 43;
  EXPECT_TRUE(loss_divergence_json(other, reference).is_null());
  other = mode_with("bf16-true", constant(0.5));
  other.runs[0].loss_trace_stride = 2;
  EXPECT_TRUE(loss_divergence_json(other, reference).is_null());
  EXPECT_TRUE(loss_divergence_json(mode_with("bf16-true", {0.5, 0.5}), reference).is_null());
}

TEST(NumericNote, CountsWhatIsBeyondTheReference) {
  const json base = {{"unmoved_weight_share", 0.01},
                     {"zero_gradient_share", 0.40},
                     {"subnormal_gradient_share", 0.0}};
  const ModeRecord reference = mode_with("32-true", constant(0.5), base);
  EXPECT_EQ(numeric_note(reference, &reference), "");
  const json numerics = {{"unmoved_weight_share", 0.32},
                         {"zero_gradient_share", 0.45},
                         {"subnormal_gradient_share", 0.04}};
  EXPECT_EQ(numeric_note(mode_with("bf16-true", constant(0.5), numerics), &reference),
            "31 % of weights stall, 9 % more gradients vanish");
  EXPECT_EQ(numeric_note(mode_with("16-mixed", constant(0.9), base), &reference),
            "loss drifts from step 19");
}

TEST(NumericNote, TakesFiguresThatAreUnknownAsNothing) {
  const ModeRecord reference = mode_with("32-true", constant(0.5));
  const json numerics = {{"unmoved_weight_share", nullptr}};
  EXPECT_EQ(numeric_note(mode_with("bf16-true", constant(0.5), numerics), &reference), "");
}

ModeRecord with_memory(const std::string& name, int64_t peak, int64_t part) {
  ModeRecord mode = mode_with(name, {});
  mode.runs[0].memory.peak_allocated_bytes = peak;
  mode.runs[0].memory.breakdown = {
      {"weights_bytes", part}, {"gradients_bytes", part}, {"optimizer_bytes", 2 * part}};
  return mode;
}

TEST(MemoryNote, ExplainsAnAutocastModeThatSavesLittle) {
  const ModeRecord reference = with_memory("32-true", 1000, 190);
  EXPECT_EQ(memory_note(with_memory("16-mixed", 950, 190), reference),
            "16-mixed keeps float32 weights, gradients and optimizer state: 80 % of its peak");
  EXPECT_EQ(memory_note(with_memory("16-mixed", 750, 150), reference), "");  // saves a quarter
  EXPECT_EQ(memory_note(with_memory("bf16-true", 950, 100), reference), "");
  // Activations are what it needs, or its weights are not float32.
  EXPECT_EQ(memory_note(with_memory("16-mixed", 950, 40), reference), "");
  EXPECT_EQ(memory_note(with_memory("transformer-engine", 950, 190), reference), "");
}

}  // namespace
}  // namespace precbench::result_numeric_notes_test
