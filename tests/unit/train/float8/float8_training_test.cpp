// Whole runs in FP8, and the same arithmetic written a second time in plain float32 operations.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "../../temporary.h"
#include "../support.h"
#include "common/errors.h"
#include "train/float8/float8_linear.h"
#include "train/loop/weights.h"
#include "train/models/layers.h"
#include "train/models/registry.h"

namespace precbench::train::float8_training_test {
namespace {

// Rounds to a grid of `mantissa` bits whose smallest normal number is 2^least, clipped at
// `largest`.
torch::Tensor on_grid(const torch::Tensor& value, int mantissa, int least, double largest) {
  const torch::Tensor clipped = value.clamp(-largest, largest);
  const torch::Tensor exponent =
      torch::floor(torch::log2(clipped.abs().clamp_min(1e-30))).clamp_min(least);
  const torch::Tensor step = torch::exp2(exponent - mantissa);
  return torch::round(clipped / step) * step;
}

// Delayed scaling over plain numbers.
struct FakeScaling {
  int mantissa, least;
  double largest;
  size_t history;
  float scale = 1;
  std::vector<float> amaxes = {};

  // The values that the FP8 numbers stand for.
  torch::Tensor pass(const torch::Tensor& value) {
    const torch::Tensor seen =
        on_grid(value.to(torch::kFloat) * scale, mantissa, least, largest) / scale;
    amaxes.push_back(value.abs().max().item<float>());
    if (amaxes.size() > history) amaxes.erase(amaxes.begin());
    next = static_cast<float>(largest) / *std::max_element(amaxes.begin(), amaxes.end());
    return seen;
  }
  void end() { scale = next; }
  float next = 1;
};

struct FakeLayer {
  torch::Tensor weight, bias;  // bfloat16
  FakeScaling input{3, -6, 448, 16}, weights{3, -6, 448, 16}, gradient{2, -14, 57344, 16};
  torch::Tensor x = {}, w = {};  // as the products see them

  torch::Tensor forward(const torch::Tensor& value) {
    x = input.pass(value);
    w = weights.pass(weight);
    return (x.mm(w.t()) + bias.to(torch::kFloat)).to(torch::kBFloat16);
  }
  // Returns the input's gradient, and steps.
  torch::Tensor backward(const torch::Tensor& g, double lr) {
    const torch::Tensor seen = gradient.pass(g);
    const torch::Tensor input_gradient = seen.mm(w).to(torch::kBFloat16);
    const torch::Tensor weight_gradient = seen.t().mm(x).to(torch::kBFloat16);
    weight.add_(weight_gradient, -lr);
    bias.add_(g.sum(0), -lr);
    input.end();
    weights.end();
    gradient.end();
    return input_gradient;
  }
};

class Network : public Model {
 public:
  Network() {
    first = register_module("first", Linear(32, 64, GemmBackend::library_default));
    second = register_module("second", Linear(64, 16, GemmBackend::library_default));
  }
  torch::Tensor forward(const torch::Tensor& input) override {
    return second->forward(torch::relu(first->forward(input)));
  }
  Linear first{nullptr}, second{nullptr};
};

// Both sides differ in the order of float32 sums at most; without AMX they were equal to 1e-6 in
// all 150 steps. With it oneDNN multiplies FP8 itself, as PyTorch's kernels do without FMA in
// another order: a sum may round to the next bfloat16, 2^-8 away.
double tolerance() {
  std::ifstream file("/proc/cpuinfo");
  const std::string facts(std::istreambuf_iterator<char>(file), {});
  return facts.find("amx_tile") != std::string::npos || !has_fma_kernels() ? 4e-3 : 1e-5;
}

TEST(Float8Training, EqualsTheRecipeInPlainOperations) {
  at::set_num_threads(1);
  for (const uint64_t seed : {1, 2, 3}) {
    torch::manual_seed(seed);
    Network model;
    const auto precision = make_precision(*find_mode("transformer-engine"), at::kCPU,
                                          {{"delayed", 0, 16, "max"}, Float8Kernel::scaled_mm});
    precision->convert_module(model);
    FakeLayer first{model.first->weight.detach().clone(), model.first->bias.detach().clone()};
    FakeLayer second{model.second->weight.detach().clone(), model.second->bias.detach().clone()};
    OptimizerJob job;
    job.lr = 0.1;
    job.momentum = 0;
    const auto optimizer = make_optimizer(job, model.parameters());
    const torch::Tensor x = torch::randn({64, 32});
    const torch::Tensor y = torch::randint(16, {64}, torch::kLong);
    double begin = 0, end = 0;
    for (int step = 0; step < 50; ++step) {
      optimizer->drop_gradients();
      const torch::Tensor loss = torch::cross_entropy_loss(precision->forward(model, x), y);
      precision->backward(loss);
      precision->step(*optimizer);

      torch::NoGradGuard no_grad;
      const torch::Tensor before = first.forward(x.to(torch::kBFloat16));
      const torch::Tensor hidden = torch::relu(before);
      const torch::Tensor logits = second.forward(hidden).to(torch::kFloat);
      const double expected = torch::cross_entropy_loss(logits, y).item<double>();
      const torch::Tensor logit_gradient =
          ((torch::softmax(logits, 1) - torch::one_hot(y, 16)) / 64).to(torch::kBFloat16);
      const torch::Tensor hidden_gradient = second.backward(logit_gradient, job.lr);
      first.backward(hidden_gradient * before.gt(0), job.lr);

      EXPECT_NEAR(loss.item<double>(), expected, tolerance() * expected) << "step " << step;
      if (step == 0) begin = expected;
      end = expected;
    }
    EXPECT_LT(end, 0.9 * begin);  // it learns, or the comparison says little
  }
}

int64_t allocated() {
  CpuDevice device;
  return device.memory().allocated_bytes;
}

TEST(Float8Training, MemoryDoesNotGrow) {
  Network model;
  const auto precision = precision_of("transformer-engine");
  precision->convert_module(model);
  const auto optimizer = make_optimizer(OptimizerJob(), model.parameters());
  const torch::Tensor x = torch::randn({64, 32});
  const torch::Tensor y = torch::randint(16, {64}, torch::kLong);
  int64_t early = 0;
  for (int step = 0; step < 210; ++step) {
    optimizer->drop_gradients();
    precision->backward(torch::cross_entropy_loss(precision->forward(model, x), y));
    precision->step(*optimizer);
    if (step == 9) early = allocated();
  }
  EXPECT_EQ(allocated(), early);
}

TEST(Float8Training, ARunTellsItsLayersAndNumbers) {
  TrainJob job = small_job("transformer-engine");
  job.model = "mlp";
  job.steps = 6;
  const TrainResult result = run(job);
  EXPECT_EQ(result.recipe.param_dtype, "bfloat16");
  EXPECT_EQ(result.recipe.compute_dtype, "bfloat16+float8");
  const json& fp8 = result.recipe.details.at("fp8");
  EXPECT_EQ(fp8.at("layers"), json({"fc1", "fc2"}));
  // Multiplications of a step with 16 samples: fc1 without its input's gradient.
  const double in = 144 * 512, hidden = 512 * 512, head = 512 * 10;
  EXPECT_DOUBLE_EQ(fp8.at("flop_share").get<double>(),
                   (2 * in + 3 * hidden) / (2 * in + 3 * hidden + 3 * head));
  EXPECT_EQ(fp8.at("copy_bytes"), 16 * 144 + 144 * 512 + 16 * 512 + 512 * 512);
  EXPECT_EQ(fp8.at("state_bytes"), 2 * 3 * (1024 + 1) * 4);
  const json& numbers = result.run.numerics.at("fp8");
  for (const char* kind : {"input", "weight", "gradient"}) {
    EXPECT_GT(numbers.at(kind).at("smallest_scale"), 1.0) << kind;
    EXPECT_GT(numbers.at(kind).at("smallest_amax"), 0.0) << kind;
    EXPECT_GT(numbers.at(kind).at("elements"), 0) << kind;
    EXPECT_LT(numbers.at(kind).at("clipped_share"), 0.01) << kind;
  }
}

TEST(Float8Training, AModelWithoutSuchLayersSaysSo) {
  TrainJob job = small_job("transformer-engine");
  job.model = "resnet18";
  job.steps = 1;
  const TrainResult result = run(job);
  EXPECT_EQ(result.recipe.details.at("fp8").at("layers"), json::array());
  EXPECT_NE(std::find(result.notes.begin(), result.notes.end(),
                      "no layer ran in FP8: this was bfloat16 throughout"),
            result.notes.end());
}

TEST(Float8Training, ScalesAndHistoriesAreInTheCheckpoint) {
  TrainJob job = small_job("transformer-engine");
  job.model = "mlp";
  job.save_weights = temporary_path("float8.pt");
  run(job);
  const auto fresh = [] {
    return make_model("mlp", {1, 12, 12, 10}, json::object(), GemmBackend::library_default);
  };
  auto model = fresh();
  load_weights(*model, job.save_weights);
  const auto precision = precision_of("transformer-engine");
  precision->convert_module(*model);
  EXPECT_EQ(model->named_buffers()["fc1.fp8.input_scale"].item<float>(), 1.0F);
  load_float8_state(*model, job.save_weights);
  EXPECT_NE(model->named_buffers()["fc1.fp8.input_scale"].item<float>(), 1.0F);
  EXPECT_GT(model->named_buffers()["fc2.fp8.gradient_amax_history"].max().item<float>(), 0.0F);

  const auto shorter = make_precision(*find_mode("transformer-engine"), at::kCPU,
                                      {{"delayed", 0, 8, "max"}, Float8Kernel::scaled_mm});
  auto other = fresh();
  shorter->convert_module(*other);
  EXPECT_THROW(load_float8_state(*other, job.save_weights), FileError);
  // Other modes pass them over.
  job.mode = "bf16-true";
  job.init_weights = job.save_weights;
  job.save_weights.clear();
  EXPECT_EQ(run(job).run.status, Status::ok);
  std::filesystem::remove(job.init_weights);
}

}  // namespace
}  // namespace precbench::train::float8_training_test
