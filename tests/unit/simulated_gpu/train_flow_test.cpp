// The worker's whole training job on a simulated card: what `--device cuda` runs, without a GPU.
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>

#include "common/errors.h"
#include "support.h"
#include "train/base/errors.h"
#include "train/precision/scopes.h"

namespace precbench::train::simulated::train_flow_test {
namespace {

class TrainFlow : public testing::TestWithParam<std::string> {};

// The recipe is observed, not declared (train/measure/dtype_observer.h); a difference from the mode
// table is an error of the job.
TEST_P(TrainFlow, RunsAndHasTheModesDtypes) {
  auto device = card("t4");
  for (const char* model : {"mlp", "cnn"}) {
    const TrainResult result = run_on(device, small_job(GetParam(), model));
    const ModeTraits& mode = *find_mode(GetParam());
    EXPECT_EQ(result.run.status, Status::ok) << model;
    EXPECT_EQ(result.recipe.compute_dtype, std::string(name_of(mode.compute))) << model;
    EXPECT_EQ(result.recipe.grad_dtype, std::string(name_of(mode.parameters))) << model;
    EXPECT_EQ(result.recipe.param_dtype, std::string(name_of(mode.parameters))) << model;
    EXPECT_EQ(result.recipe.autocast.has_value(), mode.autocast) << model;
  }
}

TEST_P(TrainFlow, SplitsThePeakCompletely) {
  auto device = card("t4");
  const TrainResult result = run_on(device, small_job(GetParam()));
  int64_t sum = 0;
  for (const auto& [use, bytes] : result.run.memory.breakdown.items()) {
    if (!bytes.is_number()) continue;  // MemoryProfile's points
    EXPECT_GE(bytes.get<int64_t>(), 0) << use;
    sum += bytes.get<int64_t>();
  }
  EXPECT_EQ(sum, *result.run.memory.peak_allocated_bytes);
  // Momentum, weights and gradients are of the same size: the parameters', block by block.
  const json& split = result.run.memory.breakdown;
  EXPECT_EQ(split.at("optimizer_bytes"), split.at("weights_bytes"));
  EXPECT_GT(
      split.at("activations_bytes").get<int64_t>() + split.at("temporaries_bytes").get<int64_t>(),
      0);
}

TEST_P(TrainFlow, LeavesNothingOnTheCard) {
  auto device = card("t4");
  run_on(device, small_job(GetParam()));
  gpu().insert(*find_gpu_card("t4"));  // takes the workspaces away
  EXPECT_EQ(gpu().memory().stats().live_blocks, 0);
}

TEST_P(TrainFlow, IsFlatOver100Steps) {
  auto device = card("t4");
  TrainJob job = small_job(GetParam());
  job.dataset.synthetic_train = 16 * 50;
  job.steps = 3;
  const int64_t few = *run_on(device, job).run.memory.peak_allocated_bytes;
  job.steps = 100;  // two epochs with an evaluation after each
  EXPECT_EQ(*run_on(device, job).run.memory.peak_allocated_bytes, few);
}

TEST_P(TrainFlow, CountsNoDataSet) {
  auto device = card("t4");
  TrainJob job = small_job(GetParam());
  const int64_t small = *run_on(device, job).run.memory.peak_allocated_bytes;
  job.dataset.synthetic_train = 16 * 40000;
  const TrainResult large = run_on(device, job);
  EXPECT_GT(*large.run.memory.dataset_bytes, 2 * small);
  EXPECT_EQ(*large.run.memory.peak_allocated_bytes, small);
}

// What the losses of a job were called with, above autocast: the dtype of the logits, and whether
// an autocast region was open. By the time that the loss's kernels run, neither can be told:
// log_softmax runs in float32 in both forms.
struct LossCall {
  at::ScalarType logits;
  bool under_autocast;
  auto operator<=>(const LossCall&) const = default;
};

std::set<LossCall> loss_calls;

std::unique_ptr<at::ObserverContext> note_loss(const at::RecordFunction& function) {
  if (std::string_view(function.name()) == "aten::cross_entropy_loss") {
    loss_calls.insert({function.inputs()[0].toTensor().scalar_type(),
                       at::autocast::is_autocast_enabled(at::kCUDA)});
  }
  return nullptr;
}

std::set<LossCall> losses_of(const std::function<void()>& work) {
  loss_calls.clear();
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(&note_loss).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  work();
  at::removeCallback(handle);
  return loss_calls;
}

std::set<LossCall> losses_of(const TrainJob& job) {
  auto device = card("t4");
  return losses_of([&] { run_on(device, job); });
}

// Fabric casts the output to float32 in every mode and leaves autocast before the loss.
bool is_as_fabric(const std::set<LossCall>& calls) {
  return calls == std::set<LossCall>{{at::kFloat, false}};
}

TEST_P(TrainFlow, ComputesTheLossInFloat32OutsideOfAutocast) {
  EXPECT_TRUE(is_as_fabric(losses_of(small_job(GetParam()))));
}

// What wrong implementations would do: the test above fails with each of them.
TEST(TrainingOnACard, WouldBeSeenToComputeTheLossInsideOfAutocast) {
  TrainJob job = small_job("16-mixed");
  job.loss_autocast = true;
  EXPECT_FALSE(is_as_fabric(losses_of(job)));
  EXPECT_FALSE(is_as_fabric(losses_of([] {
    const auto device = card("t4");
    const AutocastScope scope(at::kCUDA, at::kHalf);
    at::cross_entropy_loss(on_card({8, 10}, at::kHalf), on_card({8}, at::kLong));
  })));
}

TEST(TrainingOnACard, WouldBeSeenToLeaveTheOutputInTheLowDtype) {
  EXPECT_FALSE(is_as_fabric(losses_of([] {
    const auto device = card("t4");
    at::cross_entropy_loss(on_card({8, 10}, at::kHalf), on_card({8}, at::kLong));
  })));
}

INSTANTIATE_TEST_SUITE_P(Of, TrainFlow, testing::ValuesIn(kModes), [](const auto& info) {
  std::string name = info.param;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

TEST(TrainingOnACard, SaysWhatASimulationDoesNotKnow) {
  auto device = card("t4");
  const RunRecord run = run_on(device, small_job("32-true")).run;
  EXPECT_FALSE(run.train_accuracy);
  EXPECT_FALSE(run.time.train_s);
  EXPECT_FALSE(run.loss_trace.at(0));
  EXPECT_NE(run.unknown.at("test_accuracy").find("simulated"), std::string::npos);
  EXPECT_NE(run.time.unknown.at("total_s").find("simulated"), std::string::npos);
}

// An infinity in a gradient makes the scaler skip that step and halve its scale, as on a card.
TEST(TrainingOnACard, SkipsAStepWithAnInfiniteGradient) {
  auto device = card("t4");
  TrainJob job = small_job("16-mixed");
  job.inject_inf_at_step = 1;
  for (const char* impl : {"loop", "foreach", "fused"}) {
    job.optimizer.impl = impl;
    const TrainResult result = run_on(device, job);
    ASSERT_TRUE(result.run.scaler);
    EXPECT_EQ(result.run.scaler->skipped_steps, 1) << impl;
    EXPECT_EQ(result.run.scaler->final_scale, 32768.0) << impl;
  }
}

TEST(TrainingOnACard, SkipsNoStepWithoutOne) {
  auto device = card("t4");
  const TrainResult result = run_on(device, small_job("16-mixed"));
  EXPECT_EQ(result.run.scaler->skipped_steps, 0);
  EXPECT_EQ(result.run.scaler->final_scale, 65536.0);
}

TEST(TrainingOnACard, IsOutOfMemoryAtTheCardsLimitAndTheNextModeRuns) {
  auto device = card("t4");
  TrainJob job = small_job("32-true", "mlp");
  job.dataset.synthetic_shape = {3, 256, 256};
  job.batch_size = 20000;  // 15.7 GB of images alone, in float32
  job.dataset.synthetic_train = job.batch_size;
  job.dataset.synthetic_test = 1;
  EXPECT_THROW(run_on(device, job), c10::OutOfMemoryError);
  EXPECT_EQ(run_on(device, small_job("bf16-mixed")).run.status, Status::ok);
  gpu().insert(*find_gpu_card("t4"));
  EXPECT_EQ(gpu().memory().stats().live_blocks, 0);
}

// As scripts/gpu-check asks for on cards that have a fused kernel for bf16: one attention matrix
// for each of vit_tiny's 12 layers and 3 heads is kept then, [16, 3, 65, 65] in float32.
TEST(TrainingOnACard, KeepsAttentionMatricesWhereTheMathPathIsAskedFor) {
  auto device = card("a100");
  TrainJob job = small_job("bf16-mixed", "vit_tiny");
  job.dataset.synthetic_shape = {3, 32, 32};
  const int64_t fused = *run_on(device, job).run.memory.peak_allocated_bytes;
  job.attention = "math";
  const int64_t math = *run_on(device, job).run.memory.peak_allocated_bytes;
  job.attention = "default";
  constexpr int64_t kMatrices = 12 * 16 * 3 * 65 * 65 * 4;
  EXPECT_GT(math, fused + kMatrices);
  EXPECT_EQ(*run_on(device, job).run.memory.peak_allocated_bytes, fused);
}

// FP8 products on a card that has them, and in float32 on one that has not.
TEST(TrainingOnACard, MultipliesInFloat8FromAdaOn) {
  const auto products = [](const std::string& id) {
    auto device = card(id);
    return traced([&] { run_on(device, small_job("transformer-engine", "mlp")); });
  };
  const auto l4 = products("l4");
  EXPECT_TRUE(inputs_of(l4, "aten::_scaled_mm").contains(at::kFloat8_e4m3fn));
  EXPECT_FALSE(ran(products("t4"), "aten::_scaled_mm"));
}

TEST(TrainingOnACard, RefusesTf32BeforeAmpere) {
  auto t4 = card("t4");
  EXPECT_THROW(run_on(t4, small_job("tf32")), UnsupportedError);
  auto a100 = card("a100");
  EXPECT_EQ(run_on(a100, small_job("tf32")).recipe.tf32_matmul, true);
}

TEST(TrainingOnACard, NamesAnOperationThatItDoesNotKnow) {
  const auto device = card("t4");
  try {
    at::_fft_r2c(on_card({8, 8}), {1}, 0, true);
    FAIL() << "it was let through";
  } catch (const c10::NotImplementedError& error) {
    EXPECT_NE(std::string(error.what()).find("aten::_fft_r2c"), std::string::npos);
  }
}

TEST(TrainingOnACard, KnowsItsCard) {
  const DeviceFacts facts = card("l4").facts();
  EXPECT_EQ(facts.kind, "simulated");
  EXPECT_EQ(facts.name, "NVIDIA L4");
  EXPECT_EQ(facts.compute_capability, "8.9");
  EXPECT_EQ(facts.more.at("id"), "simulated:l4");
}

TEST(TrainingOnACard, RefusesACardThatIsNotInTheTable) {
  EXPECT_THROW(open_simulated_device("simulated:t5"), DeviceError);
}

// cuBLAS's workspaces: one of the forward pass's thread, one of autograd's
// (CublasHandlePool.cpp: 8.125 MiB, 32 MiB from Hopper on).
TEST(MatrixWorkspace, IsTakenOnceByEachThread) {
  const auto workspace_mib = [](const std::string& id) {
    auto device = card(id);
    const json split = run_on(device, small_job("32-true", "mlp")).run.memory.breakdown;
    return static_cast<double>(split.at("workspace_bytes").get<int64_t>()) / (1 << 20);
  };
  EXPECT_EQ(workspace_mib("t4"), 2 * 8.125);
  EXPECT_EQ(workspace_mib("h100"), 2 * 32.0);
}

}  // namespace
}  // namespace precbench::train::simulated::train_flow_test
