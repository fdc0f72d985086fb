#include "train/precision/grad_scaler.h"

#include <cmath>
#include <fstream>
#include <limits>

#include "../../places.h"
#include "../support.h"
#include "common/json_fields.h"

namespace precbench::train::grad_scaler_test {
namespace {

// One parameter whose gradient is a constant: loss = factor * p.
struct ScaledStep {
  torch::Tensor parameter = torch::tensor(1.0F, torch::requires_grad());
  std::unique_ptr<Optimizer> optimizer;
  GradScaler scaler;

  explicit ScaledStep(const GradScalerState& state = {}, const std::string& impl = "loop",
                      double momentum = 0.0)
      : scaler(state) {
    OptimizerJob job;
    job.impl = impl;
    job.lr = 0.125;
    job.momentum = momentum;
    optimizer = make_optimizer(job, {parameter});
  }

  void backward() {
    optimizer->drop_gradients();
    scaler.scale(0.5 * parameter).backward();
  }
  float value() const { return parameter.item<float>(); }
};

json read_cases() {
  std::ifstream file(source_dir() + "/tests/cases/grad_scaler.json");
  return json::parse(file);
}

double number_of(const std::string& name) {
  if (name == "nan") return std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  return name == "-inf" ? -infinity : infinity;
}

// Values printed by torch.amp.GradScaler("cpu") of PyTorch 2.11 (the file says so itself).
TEST(GradScaler, FollowsPyTorchStepByStep) {
  const json cases = read_cases().at("cases");
  ASSERT_EQ(cases.size(), 6U);
  for (const json& expected : cases) {
    GradScalerState state;
    state.scale = expected.at("init_scale");
    state.growth_factor = expected.at("growth_factor");
    state.backoff_factor = expected.at("backoff_factor");
    state.growth_interval = expected.at("growth_interval");
    ScaledStep test(state);
    for (const json& step : expected.at("steps")) {
      test.backward();
      if (!step.at("injected").is_null()) {
        torch::NoGradGuard no_grad;
        test.parameter.grad().fill_(number_of(step.at("injected")));
      }
      const torch::Tensor skipped = test.scaler.step(*test.optimizer);
      test.scaler.update();
      EXPECT_EQ(skipped.item<float>() != 0, step.at("skipped").get<bool>());
      EXPECT_EQ(test.value(), step.at("param").get<float>());
      EXPECT_EQ(test.scaler.state().scale, step.at("scale").get<double>());
      EXPECT_EQ(test.scaler.state().growth_tracker, step.at("growth_tracker").get<int64_t>());
    }
  }
}

// fabric-precision.md §5, row 38: the four errors, with PyTorch's texts.
TEST(GradScaler, RefusesCallsOutOfOrder) {
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const GradScalerError& error) {
      return error.what();
    }
    return "no error";
  };
  ScaledStep test;
  test.backward();
  test.scaler.unscale(*test.optimizer);
  EXPECT_EQ(message([&] { test.scaler.unscale(*test.optimizer); }),
            "unscale_() has already been called on this optimizer since the last update().");
  test.scaler.step(*test.optimizer);
  EXPECT_EQ(message([&] { test.scaler.step(*test.optimizer); }),
            "step() has already been called since the last update().");
  EXPECT_EQ(message([&] { test.scaler.unscale(*test.optimizer); }),
            "unscale_() is being called after step().");
  test.scaler.update();
  EXPECT_EQ(message([&] { test.scaler.update(); }), "No inf checks were recorded prior to update.");
  test.optimizer->drop_gradients();
  EXPECT_EQ(message([&] { test.scaler.step(*test.optimizer); }),
            "No inf checks were recorded for this optimizer.");

  torch::Tensor half = torch::ones({2}, torch::dtype(torch::kHalf).requires_grad(true));
  half.mutable_grad() = torch::ones({2}, torch::kHalf);
  const auto optimizer = make_optimizer({}, {half});
  GradScaler scaler;
  scaler.scale(torch::ones({}));
  EXPECT_EQ(message([&] { scaler.unscale(*optimizer); }), "Attempting to unscale FP16 gradients.");
  EXPECT_NE(message([&] { GradScaler().step(*optimizer); }), "no error");
}

TEST(GradScaler, TakesAndGivesItsState) {
  GradScalerState state;
  state.scale = 1024;
  state.growth_interval = 3;
  state.growth_tracker = 1;
  ScaledStep original(state);
  original.backward();
  original.scaler.step(*original.optimizer);
  original.scaler.update();

  ScaledStep restored;
  restored.backward();  // its scale exists already and must be overwritten
  restored.scaler.load_state(original.scaler.state());
  EXPECT_EQ(restored.scaler.state().growth_tracker, 2);
  restored.backward();
  restored.scaler.step(*restored.optimizer);
  restored.scaler.update();
  EXPECT_EQ(restored.scaler.state().scale, 2048);  // the third clean step doubles it

  state.growth_factor = 1.0;
  EXPECT_THROW(GradScaler{state}, std::invalid_argument);
  state.growth_factor = 2.0;
  state.backoff_factor = 1.0;
  EXPECT_THROW(GradScaler{state}, std::invalid_argument);
}

// A fused kernel decides by itself; momentum must not be left unset by a skipped first step.
TEST(GradScaler, AFusedOptimizerSkipsInItsKernel) {
  for (const double momentum : {0.0, 0.9}) {
    ScaledStep fused({}, "fused", momentum), loop({}, "loop", momentum);
    for (int step = 0; step < 4; ++step) {
      for (ScaledStep* test : {&fused, &loop}) {
        const float before = test->value();
        test->backward();
        if (step == 0 || step == 2) {
          torch::NoGradGuard no_grad;
          test->parameter.grad().fill_(number_of("inf"));
        }
        test->scaler.step(*test->optimizer);
        test->scaler.update();
        EXPECT_EQ(test->value() == before, step == 0 || step == 2);
      }
      EXPECT_EQ(fused.value(), loop.value()) << "step " << step << ", momentum " << momentum;
      EXPECT_EQ(fused.scaler.current_scale(), loop.scaler.current_scale());
    }
  }
}

// Clipping needs the unscaled gradient; a fused step after it must not unscale again.
TEST(GradScaler, UnscaledGradientsAreNotDividedTwice) {
  for (const char* impl : {"loop", "fused"}) {
    ScaledStep test({}, impl);
    test.backward();
    test.scaler.unscale(*test.optimizer);
    EXPECT_EQ(test.parameter.grad().item<float>(), 0.5F);
    test.scaler.step(*test.optimizer);
    test.scaler.update();
    EXPECT_EQ(test.value(), 1.0F - 0.125F * 0.5F) << impl;
  }
}

}  // namespace
}  // namespace precbench::train::grad_scaler_test
