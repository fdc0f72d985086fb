#include "train/precision/precision.h"

#include <ATen/autocast_mode.h>

#include "../support.h"
#include "train/base/dtypes.h"
#include "train/base/errors.h"

namespace precbench::train::precision_test {
namespace {

bool autocast_on() { return at::autocast::is_autocast_enabled(at::kCPU); }
at::ScalarType default_dtype() { return c10::typeMetaToScalarType(torch::get_default_dtype()); }

TEST(AutocastScope, NestsAndRestores) {
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  {
    AutocastScope outer(at::kCPU, at::kHalf);
    EXPECT_TRUE(autocast_on());
    {
      AutocastScope inner(at::kCPU, at::kBFloat16, /*enabled=*/false);
      EXPECT_FALSE(autocast_on());
    }
    EXPECT_TRUE(autocast_on());
    EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kHalf);
  }
  EXPECT_FALSE(autocast_on());
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kBFloat16);
}

TEST(AutocastScope, EndsWhenAnExceptionPasses) {
  EXPECT_THROW(
      {
        AutocastScope scope(at::kCPU, at::kBFloat16);
        AutocastScope inner(at::kCPU, at::kBFloat16);
        throw std::runtime_error("out of memory");
      },
      std::runtime_error);
  EXPECT_FALSE(autocast_on());
  EXPECT_EQ(at::autocast::increment_nesting(), 1);  // the nesting level went back to 0
  EXPECT_EQ(at::autocast::decrement_nesting(), 0);
}

TEST(AutocastScope, DropsCachedWeightsSoThatAStepIsSeenByTheNextForward) {
  LinearModel model(4, 4);
  const auto precision = precision_of("bf16-mixed");
  const torch::Tensor before = precision->forward(model, ramp({2, 4}));
  {
    torch::NoGradGuard no_grad;
    model.linear->weight.add_(1.0);  // in place, as an optimizer does
  }
  const torch::Tensor after = precision->forward(model, ramp({2, 4}));
  EXPECT_FALSE(torch::equal(before, after));  // stale casts would make these equal
}

TEST(AutocastScope, KeepsOneCastOfAWeightWithinAForward) {
  LinearModel model(64, 64);
  const torch::Tensor input = ramp({2, 64}).to(torch::kBFloat16);
  AutocastScope scope(at::kCPU, at::kBFloat16);
  torch::Tensor output = model.linear->forward(input);
  const int64_t before = CountingAllocator::instance().current();
  const torch::Tensor second = model.linear->forward(input);
  EXPECT_EQ(CountingAllocator::instance().current() - before, 2 * 64 * 2);  // the output alone
}

// fabric-precision.md §5, row 12.
TEST(Precision, TrueModesSetTheDefaultDtypeInsideTheForwardPass) {
  for (const auto& [mode, dtype] :
       {std::pair{"16-true", at::kHalf}, {"bf16-true", at::kBFloat16}, {"64-true", at::kDouble}}) {
    const auto precision = precision_of(mode);
    {
      const auto scope = precision->forward_scope();
      EXPECT_EQ(default_dtype(), dtype) << mode;
    }
    EXPECT_EQ(default_dtype(), at::kFloat) << mode;
  }
}

// Row 13: weights drawn under init_module have the mode's dtype.
TEST(Precision, InitScopeMakesWeightsInTheModesDtype) {
  for (const std::string& mode : kCpuModes) {
    const auto scope = precision_of(mode)->init_scope();
    const torch::nn::Linear layer(2, 2);
    EXPECT_EQ(layer->weight.scalar_type(), scalar_type(find_mode(mode)->parameters)) << mode;
  }
}

// Row 14, and integer buffers: Module::to(dtype) would cast num_batches_tracked as well.
TEST(Precision, ConvertsFloatingParametersAndBuffersOnly) {
  for (const std::string& mode : kCpuModes) {
    torch::nn::Sequential module(torch::nn::Linear(2, 2), torch::nn::BatchNorm1d(2));
    const auto parameters = module->parameters();
    precision_of(mode)->convert_module(*module);
    const at::ScalarType expected = scalar_type(find_mode(mode)->parameters);
    for (const auto& item : module->named_parameters()) {
      EXPECT_EQ(item.value().scalar_type(), expected) << mode << " " << item.key();
    }
    for (const auto& item : module->named_buffers()) {
      const bool counts = item.key().ends_with("num_batches_tracked");
      EXPECT_EQ(item.value().scalar_type(), counts ? at::kLong : expected) << mode << item.key();
    }
    // In place: an optimizer that holds the parameters from before sees the cast ones.
    EXPECT_EQ(parameters[0].scalar_type(), expected) << mode;
  }
}

// Row 15.
TEST(Precision, DoubleReturnsFloat32AndHasDoubleGradients) {
  LinearModel model(3, 2);
  const auto precision = precision_of("64-true");
  precision->convert_module(model);
  const torch::Tensor output = precision->forward(model, ramp({2, 3}));
  EXPECT_EQ(output.scalar_type(), at::kFloat);
  precision->backward(output.sum());
  EXPECT_EQ(model.linear->weight.grad().scalar_type(), at::kDouble);
}

// Rows 16 and 17 (on the CPU; real fp16 in 16-mixed).
TEST(Precision, MixedModesComputeInTheLowDtypeAndKeepFloat32Outside) {
  for (const auto& [mode, dtype] :
       {std::pair{"16-mixed", at::kHalf}, std::pair{"bf16-mixed", at::kBFloat16}}) {
    LinearModel model(3, 2);
    bool called = false;
    model.on_forward = [&, low = dtype](const torch::Tensor& input, const torch::Tensor& output) {
      called = true;
      EXPECT_EQ(input.scalar_type(), low);
      EXPECT_TRUE(autocast_on());
      EXPECT_EQ(output.scalar_type(), low);
      EXPECT_EQ(default_dtype(), at::kFloat);
    };
    const auto precision = precision_of(mode);
    precision->convert_module(model);
    const torch::Tensor output = precision->forward(model, ramp({2, 3}));
    ASSERT_TRUE(called);
    EXPECT_FALSE(autocast_on());
    EXPECT_EQ(output.scalar_type(), at::kFloat);
    precision->backward(output.sum());
    EXPECT_EQ(model.linear->weight.scalar_type(), at::kFloat);
    EXPECT_EQ(model.linear->weight.grad().scalar_type(), at::kFloat);
  }
}

// Row 18, and the conversion rule of §2.0.
TEST(Precision, ConvertsFloatingTensorsOnly) {
  for (const std::string& mode : kCpuModes) {
    const auto precision = precision_of(mode);
    for (const at::ScalarType other : {at::kLong, at::kBool, at::kComplexFloat, at::kByte}) {
      const torch::Tensor tensor = torch::ones({2}, other);
      EXPECT_EQ(precision->convert_input(tensor).scalar_type(), other) << mode;
      EXPECT_EQ(precision->convert_output(tensor).scalar_type(), other) << mode;
    }
    const torch::Tensor floating = torch::ones({2});
    const at::ScalarType expected = scalar_type(find_mode(mode)->compute);
    EXPECT_EQ(precision->convert_input(floating).scalar_type(), expected) << mode;
    const torch::Tensor low = floating.to(expected);
    EXPECT_EQ(precision->convert_output(low).scalar_type(), at::kFloat) << mode;
  }
  // 32-true converts nothing.
  EXPECT_EQ(precision_of("32-true")->convert_input(torch::ones({2}, at::kHalf)).scalar_type(),
            at::kHalf);
}

// Row 19.
TEST(Precision, OnlySixteenMixedHasAScaler) {
  for (const ModeTraits& mode : kModes) {
    const bool has_scaler = make_precision(mode, at::kCPU)->scaler() != nullptr;
    EXPECT_EQ(has_scaler, mode.name == "16-mixed") << mode.name;
  }
}

// Rows 21 and 22: the loss is scaled once, then step and update happen once each.
TEST(Precision, SixteenMixedScalesTheLossOnceAndUpdatesOnce) {
  LinearModel model(1, 1);
  const auto precision = precision_of("16-mixed");
  OptimizerJob job;
  job.lr = 1.0;
  job.momentum = 0.0;
  const auto optimizer = make_optimizer(job, model.parameters());
  precision->backward(model.linear->bias.sum());
  EXPECT_EQ(model.linear->bias.grad().item<float>(), 65536.0F);
  const float before = model.linear->bias.item<float>();
  const StepOutcome outcome = precision->step(*optimizer);
  EXPECT_EQ(model.linear->bias.item<float>(), before - 1.0F);
  EXPECT_EQ(outcome.skipped.item<float>(), 0.0F);
  EXPECT_EQ(precision->scaler()->state().growth_tracker, 1);
}

// Row 23.
TEST(Precision, ModesWithoutAScalerStepPlainly) {
  for (const std::string& mode : kCpuModes) {
    if (mode == "16-mixed") continue;
    LinearModel model(1, 1);
    const auto precision = precision_of(mode);
    precision->convert_module(model);
    OptimizerJob job;
    job.lr = 0.5;
    job.momentum = 0.0;
    const auto optimizer = make_optimizer(job, model.parameters());
    torch::NoGradGuard no_grad;
    model.linear->bias.fill_(1.0);
    {
      torch::AutoGradMode with_grad(true);
      precision->backward(model.linear->bias.sum());
    }
    EXPECT_FALSE(precision->step(*optimizer).skipped.defined()) << mode;
    EXPECT_EQ(model.linear->bias.item<double>(), 0.5) << mode;
  }
}

}  // namespace
}  // namespace precbench::train::precision_test
