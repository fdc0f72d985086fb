#include "train/measure/memory_profile.h"

#include "../support.h"

namespace precbench::train::memory_profile_test {
namespace {

// mlp on 28x28: 784-512-512-10, so 401,920 + 262,656 + 5,130 parameters.
constexpr int64_t kParameters = 669706;

struct Case {
  const char* mode;
  const char* optimizer;
  double momentum;
  int64_t parameter_bytes, states;  // of an element; state tensors of a parameter's size
};

class MlpMemory : public ::testing::TestWithParam<Case> {};

TEST_P(MlpMemory, SplitsIntoHandComputedParts) {
  const Case& expected = GetParam();
  TrainJob job = small_job(expected.mode);
  job.model = "mlp";
  job.dataset.synthetic_shape = {1, 28, 28};
  job.batch_size = 16;
  job.optimizer.name = expected.optimizer;
  job.optimizer.momentum = expected.momentum;
  CpuDevice device;
  const TrainResult result = run_train_job(job, device, [](const Event&) {});
  const MemoryRecord& memory = result.run.memory;
  const json& split = memory.breakdown;
  const int64_t weights = kParameters * expected.parameter_bytes;
  EXPECT_EQ(split.at("weights_bytes"), weights);
  EXPECT_EQ(split.at("optimizer_bytes"), expected.states * weights);
  EXPECT_EQ(split.at("points").at("gradients"), weights);
  // 16 samples are little beside the weights: the peak is where the last gradients are made, or
  // after.
  // In bf16-mixed the peak is at the cast of fc1's weight gradient, before that of its bias (512).
  EXPECT_LE(split.at("gradients_bytes"), weights);
  EXPECT_GE(split.at("gradients_bytes"),
            weights - (std::string(expected.mode) == "bf16-mixed" ? 512 * 4 : 0));
  EXPECT_NE(split.at("peak").at("phase"), "forward");
  int64_t sum = 0;
  for (const char* part : {"weights", "gradients", "optimizer", "autocast", "activations"}) {
    const int64_t bytes = split.at(std::string(part) + "_bytes");
    EXPECT_GE(bytes, 0) << part;
    sum += bytes;
  }
  EXPECT_EQ(sum, split.at("peak").at("bytes"));
  EXPECT_EQ(sum, memory.peak_allocated_bytes);
}

INSTANTIATE_TEST_SUITE_P(
    MemoryProfile, MlpMemory,
    ::testing::Values(Case{"32-true", "sgd", 0.0, 4, 0}, Case{"32-true", "sgd", 0.9, 4, 1},
                      Case{"32-true", "adamw", 0.0, 4, 2}, Case{"bf16-mixed", "sgd", 0.0, 4, 0},
                      Case{"bf16-mixed", "sgd", 0.9, 4, 1}, Case{"bf16-mixed", "adamw", 0.0, 4, 2},
                      Case{"bf16-true", "sgd", 0.0, 2, 0}, Case{"bf16-true", "sgd", 0.9, 2, 1},
                      Case{"bf16-true", "adamw", 0.0, 2, 2}),
    [](const auto& tested) {
      std::string name = std::string(tested.param.mode) + "_" + tested.param.optimizer +
                         (tested.param.momentum > 0 ? "_momentum" : "");
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

// Backward needs the casts of fc2's and fc3's weights (262,144 and 5,120 elements). Those of the
// biases go with autocast's cache at the end of the forward pass, and so does that of fc1's weight:
// its input needs no gradient.
TEST(MemoryProfile, CountsTheCastsThatBackwardNeeds) {
  TrainJob job = small_job("bf16-mixed");
  job.model = "mlp";
  job.dataset.synthetic_shape = {1, 28, 28};
  EXPECT_EQ(run(job).run.memory.breakdown.at("points").at("autocast"), 2 * (262144 + 5120));
  job.mode = "bf16-true";
  EXPECT_EQ(run(job).run.memory.breakdown.at("points").at("autocast"), 0);
}

}  // namespace
}  // namespace precbench::train::memory_profile_test
