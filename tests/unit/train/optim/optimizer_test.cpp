#include "train/optim/optimizer.h"

#include <cmath>
#include <map>

#include "../support.h"
#include "train/base/dtypes.h"
#include "train/base/errors.h"
#include "train/optim/clipping.h"

namespace precbench::train::optimizer_test {
namespace {

const std::vector<std::string> kNames = {"sgd", "adam", "adamw"};
const std::vector<std::string> kImpls = {"loop", "foreach", "fused"};

OptimizerJob job_of(const std::string& name, const std::string& impl) {
  OptimizerJob job;
  job.name = name;
  job.impl = impl;
  job.lr = 0.1;
  job.momentum = 0.9;
  job.weight_decay = 0.01;
  job.nesterov = name == "sgd";
  return job;
}

torch::Tensor three_steps(const std::string& name, const std::string& impl, at::ScalarType dtype) {
  torch::Tensor weight =
      torch::tensor({1.0, -2.0, 0.5}, torch::dtype(dtype)).set_requires_grad(true);
  const auto optimizer = make_optimizer(job_of(name, impl), {weight});
  for (int step = 1; step <= 3; ++step) {
    const torch::Tensor gradient = torch::tensor({0.3, -0.7, 0.11}, torch::dtype(dtype));
    weight.mutable_grad() = gradient.mul(at::scalar_tensor(step));
    optimizer->step();
  }
  return weight.detach().to(torch::kDouble);
}

// Printed by torch.optim.SGD(lr=.1, momentum=.9, weight_decay=.01, nesterov=True), Adam and
// AdamW(lr=.1, weight_decay=.01) of PyTorch 2.11 after three steps of the same gradients.
TEST(Optimizer, EqualsPythonBitForBit) {
  struct Case {
    std::string name, impl;
    at::ScalarType dtype;
    double expected[3];
  };
  const std::vector<Case> cases = {
      {"sgd", "loop", at::kFloat, {0x1.1c875c0000000p-1, -0x1.ee9ae40000000p-1, 0x1.58173ap-2}},
      {"sgd", "foreach", at::kFloat, {0x1.1c875cp-1, -0x1.ee9ae4p-1, 0x1.58173ap-2}},
      {"sgd", "fused", at::kFloat, {0x1.1c875cp-1, -0x1.ee9ae6p-1, 0x1.58173ap-2}},
      {"sgd", "loop", at::kBFloat16, {0x1.1cp-1, -0x1.f0p-1, 0x1.58p-2}},
      {"sgd", "foreach", at::kBFloat16, {0x1.1cp-1, -0x1.f0p-1, 0x1.58p-2}},
      {"adam", "loop", at::kFloat, {0x1.6a23e4p-1, -0x1.b5165ap+0, 0x1.a83234p-3}},
      {"adam", "foreach", at::kFloat, {0x1.6a23e4p-1, -0x1.b5165ap+0, 0x1.a83234p-3}},
      {"adam", "fused", at::kFloat, {0x1.6a23e4p-1, -0x1.b5165ap+0, 0x1.a83234p-3}},
      {"adam", "loop", at::kBFloat16, {0x1.6ap-1, -0x1.b6p+0, 0x1.a6p-3}},
      {"adam", "foreach", at::kBFloat16, {0x1.6ap-1, -0x1.b6p+0, 0x1.a6p-3}},
      {"adam", "fused", at::kBFloat16, {0x1.68p-1, -0x1.b6p+0, 0x1.a8p-3}},
      {"adamw", "loop", at::kFloat, {0x1.68f34ap-1, -0x1.b3b53cp+0, 0x1.a6decap-3}},
      {"adamw", "foreach", at::kFloat, {0x1.68f34ap-1, -0x1.b3b53cp+0, 0x1.a6decap-3}},
      {"adamw", "fused", at::kFloat, {0x1.68f34ap-1, -0x1.b3b53cp+0, 0x1.a6deccp-3}},
      {"adamw", "loop", at::kBFloat16, {0x1.6ap-1, -0x1.b6p+0, 0x1.acp-3}},
      {"adamw", "foreach", at::kBFloat16, {0x1.6ap-1, -0x1.b6p+0, 0x1.acp-3}},
      {"adamw", "fused", at::kBFloat16, {0x1.68p-1, -0x1.b2p+0, 0x1.a8p-3}},
  };
  for (const Case& expected : cases) {
    const torch::Tensor weight = three_steps(expected.name, expected.impl, expected.dtype);
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(weight[i].item<double>(), expected.expected[i], has_fma_kernels() ? 0 : 1e-6)
          << expected.name << " " << expected.impl << " " << dtype_name(expected.dtype);
    }
  }
}

// A weight that does not move has not been trained: pytorch#191763 was found by exactly this. 100
// elements, so that both the vectorised part and the tail are there.
TEST(Optimizer, EveryWeightMovesInEveryModeAndImplementation) {
  for (const std::string& mode : kCpuModes) {
    const at::ScalarType dtype = scalar_type(find_mode(mode)->parameters);
    for (const std::string& name : kNames) {
      for (const std::string& impl : kImpls) {
        const std::string what = mode + " " + name + " " + impl;
        torch::Tensor weight = torch::ones({100}, dtype).set_requires_grad(true);
        std::unique_ptr<Optimizer> optimizer;
        try {
          optimizer = make_optimizer(job_of(name, impl), {weight});
        } catch (const UnsupportedError& error) {
          EXPECT_TRUE(name == "sgd" && impl == "fused" &&
                      (dtype == at::kHalf || dtype == at::kBFloat16))
              << what;
          EXPECT_NE(std::string(error.what()).find("pytorch#191763"), std::string::npos);
          continue;
        }
        for (int step = 0; step < 2; ++step) {
          const torch::Tensor before = weight.detach().clone();
          weight.mutable_grad() = torch::full({100}, 0.5, dtype);
          optimizer->step();
          EXPECT_TRUE(weight.detach().ne(before).all().item<bool>()) << what << " step " << step;
        }
        for (const torch::Tensor& state : optimizer->state()) {
          EXPECT_EQ(state.scalar_type(), dtype) << what;
        }
      }
    }
  }
}

// The three differ in rounding alone: by at most this many units in the last place of the largest
// weight after ten steps.
TEST(Optimizer, ImplementationsAgreeWithinUlps) {
  constexpr double kUlps = 8;
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const double ulp = dtype == at::kFloat ? 0x1p-23 : 0x1p-52;
    for (const std::string& name : kNames) {
      std::map<std::string, torch::Tensor> results;
      for (const std::string& impl : kImpls) {
        torch::manual_seed(3);
        torch::Tensor weight = torch::randn({1000}, dtype).set_requires_grad(true);
        const auto optimizer = make_optimizer(job_of(name, impl), {weight});
        for (int step = 0; step < 10; ++step) {
          weight.mutable_grad() = torch::randn({1000}, dtype);
          optimizer->step();
        }
        results[impl] = weight.detach();
      }
      const torch::Tensor& loop = results["loop"];
      const double bound = kUlps * ulp * loop.abs().max().item<double>();
      for (const char* impl : {"foreach", "fused"}) {
        EXPECT_LE((results[impl] - loop).abs().max().item<double>(), bound) << name << " " << impl;
      }
    }
  }
}

// As float32, hence the tolerance.
TEST(Optimizer, ARateOnTheDeviceIsTheOneThatWasSet) {
  for (const std::string& name : kNames) {
    std::vector<torch::Tensor> weights;
    for (const bool on_device : {false, true}) {
      torch::Tensor weight = torch::full({40}, 1.0).set_requires_grad(true);
      const auto optimizer = make_optimizer(job_of(name, "fused"), {weight});
      if (on_device) optimizer->keep_rate_on_device();
      for (const double rate : {0.1, 0.02, 0.5}) {
        optimizer->set_learning_rate(rate);
        weight.mutable_grad() = torch::full({40}, 0.3);
        optimizer->step();
      }
      EXPECT_EQ(optimizer->learning_rate(), 0.5);
      weights.push_back(weight.detach());
    }
    EXPECT_TRUE(torch::allclose(weights[0], weights[1], /*rtol=*/1e-6, /*atol=*/0)) << name;
  }
}

TEST(Optimizer, KeepsTheStridesOfChannelsLastParameters) {
  for (const std::string& name : kNames) {
    for (const std::string& impl : kImpls) {
      torch::Tensor weight = torch::ones({4, 3, 3, 3})
                                 .contiguous(at::MemoryFormat::ChannelsLast)
                                 .set_requires_grad(true);
      const auto optimizer = make_optimizer(job_of(name, impl), {weight});
      weight.mutable_grad() = torch::ones_like(weight);
      optimizer->step();
      optimizer->step();
      EXPECT_TRUE(weight.is_contiguous(at::MemoryFormat::ChannelsLast));
      EXPECT_TRUE(optimizer->state().front().is_contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

TEST(Optimizer, LeavesParametersWithoutGradientAlone) {
  for (const std::string& name : kNames) {
    for (const std::string& impl : kImpls) {
      torch::Tensor used = torch::ones({3}, torch::requires_grad());
      torch::Tensor unused = torch::ones({3}, torch::requires_grad());
      const auto optimizer = make_optimizer(job_of(name, impl), {unused, used});
      used.mutable_grad() = torch::ones({3});
      optimizer->step();
      EXPECT_TRUE(torch::equal(unused, torch::ones({3})));
      EXPECT_FALSE(torch::equal(used, torch::ones({3})));
      optimizer->drop_gradients();
      EXPECT_FALSE(used.grad().defined());
    }
  }
}

// fabric-precision.md §5, row 26. Values of torch.nn.utils.clip_grad_norm_([p, q], 1.0): the norm
// of (3, 0, 4) is 5.
TEST(Clipping, ByNormScalesAllGradientsAsOneVector) {
  torch::Tensor p = torch::zeros({2}), q = torch::zeros({1}), without = torch::zeros({1});
  p.mutable_grad() = torch::tensor({3.0F, 0.0F});
  q.mutable_grad() = torch::tensor({4.0F});
  EXPECT_EQ(clip_gradients_by_norm({p, q, without}, 1.0, true).item<float>(), 5.0F);
  EXPECT_EQ(p.grad()[0].item<float>(), 0x1.333330p-1F);
  EXPECT_EQ(q.grad()[0].item<float>(), 0x1.999994p-1F);

  const torch::Tensor before = q.grad().clone();
  clip_gradients_by_norm({p, q}, 10.0, true);
  EXPECT_TRUE(torch::equal(q.grad(), before));  // a norm under the limit changes nothing
}

TEST(Clipping, RefusesANonFiniteNormOnlyWhenAsked) {
  torch::Tensor p = torch::zeros({2});
  p.mutable_grad() = torch::tensor({1.0F, std::numeric_limits<float>::infinity()});
  EXPECT_THROW(clip_gradients_by_norm({p}, 1.0, true), NonFiniteNormError);
  EXPECT_TRUE(std::isinf(clip_gradients_by_norm({p}, 1.0, false).item<float>()));
}

TEST(Clipping, ByValueClampsEveryElement) {
  torch::Tensor p = torch::zeros({3});
  p.mutable_grad() = torch::tensor({-2.0F, 0.25F, 2.0F});
  clip_gradients_by_value({p}, 0.5);
  EXPECT_TRUE(torch::equal(p.grad(), torch::tensor({-0.5F, 0.25F, 0.5F})));
}

}  // namespace
}  // namespace precbench::train::optimizer_test
