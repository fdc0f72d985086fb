#include "train/float8/float8_linear.h"

#include <cmath>

#include "../support.h"
#include "train/models/layers.h"
#include "train/precision/float8_layers.h"

namespace precbench::train::float8_linear_test {
namespace {

const Float8Job kDynamic = {"dynamic", 0, 1024, "max"};

struct Shape {
  int64_t samples, in, out;
};
// Some miss the multiple of 16 in one extent, some in all.
constexpr Shape kShapes[] = {{32, 16, 48}, {17, 16, 16}, {32, 24, 32},
                             {16, 32, 10}, {3, 5, 7},    {128, 784, 64}};

torch::Tensor bf16_random(at::IntArrayRef sizes) {
  return torch::randn(sizes).to(torch::kBFloat16);
}

// An element x of a tensor scaled to the format's range becomes x' with |x' - x| <= u |x| + d: u is
// half a unit in the last place (2^-4 for three mantissa bits, 2^-3 for two), d half of the
// smallest subnormal, in units of the tensor.
torch::Tensor error_of(const torch::Tensor& value, Float8Format format) {
  const double unit = format == Float8Format::e4m3 ? 0x1p-4 : 0x1p-3;
  const double scale = largest(format) / value.abs().max().item<double>();
  return value.abs() * unit + smallest_subnormal(format) / 2 / scale;
}

// Bound of |a'b' - ab| for [m, k] and [k, n], then float32 sums and a result in bfloat16.
torch::Tensor bound(const torch::Tensor& a, Float8Format a_format, const torch::Tensor& b,
                    Float8Format b_format) {
  const torch::Tensor da = error_of(a, a_format), db = error_of(b, b_format);
  const torch::Tensor product = da.mm(b.abs()) + a.abs().mm(db) + da.mm(db);
  constexpr double kBfloat16 = 0x1p-8, kSums = 1e-5;
  const torch::Tensor size = a.abs().mm(b.abs());
  return product + (a.mm(b).abs() + product) * kBfloat16 + size * kSums;
}

void expect_within(const torch::Tensor& value, const torch::Tensor& exact,
                   const torch::Tensor& allowed, const std::string& what) {
  const torch::Tensor excess = (value.to(torch::kDouble) - exact).abs() - allowed;
  EXPECT_LE(excess.max().item<double>(), 0) << what;
  EXPECT_GT((value.to(torch::kDouble) - exact).abs().max().item<double>(), 0) << what;
}

TEST(Float8Linear, StaysWithinTheFormatsErrorBoundOfFloat64) {
  for (const Float8Kernel kernel : {Float8Kernel::scaled_mm, Float8Kernel::emulated}) {
    for (const Shape& shape : kShapes) {
      torch::manual_seed(5);
      const torch::Tensor x = bf16_random({shape.samples, shape.in}).requires_grad_();
      const torch::Tensor w = bf16_random({shape.out, shape.in}).requires_grad_();
      const torch::Tensor g = bf16_random({shape.samples, shape.out});
      const Float8Layer layer(kDynamic, kernel);
      const torch::Tensor y = float8_linear(x, w, {}, layer);
      EXPECT_EQ(y.scalar_type(), torch::kBFloat16);
      y.backward(g);
      const auto wide = [](const torch::Tensor& t) { return t.detach().to(torch::kDouble); };
      const torch::Tensor x64 = wide(x), w64 = wide(w), g64 = wide(g);
      constexpr auto kForward = Float8Format::e4m3, kBackward = Float8Format::e5m2;
      const std::string what = std::to_string(shape.samples) + "x" + std::to_string(shape.in) +
                               "x" + std::to_string(shape.out);
      expect_within(y, x64.mm(w64.t()), bound(x64, kForward, w64.t(), kForward), what + " y");
      expect_within(x.grad(), g64.mm(w64), bound(g64, kBackward, w64, kForward), what + " dx");
      expect_within(w.grad(), g64.t().mm(x64), bound(g64.t(), kBackward, x64, kForward),
                    what + " dw");
    }
  }
}

TEST(Float8Linear, TheBiasIsAddedAndItsGradientIsTheSum) {
  torch::manual_seed(6);
  const torch::Tensor x = torch::zeros({4, 10, 16}, torch::kBFloat16);
  const torch::Tensor w = bf16_random({24, 16});
  const torch::Tensor b = bf16_random({24}).requires_grad_();
  const torch::Tensor y = float8_linear(x, w, b, Float8Layer(kDynamic, Float8Kernel::scaled_mm));
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{4, 10, 24}));
  EXPECT_TRUE(y[3][9].equal(b));
  y.sum().backward();
  EXPECT_TRUE(b.grad().equal(torch::full({24}, 40.0, torch::kBFloat16)));
}

TEST(Float8Linear, NeverHidesNanAndInfinity) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), infinity, -infinity}) {
    torch::manual_seed(7);
    torch::Tensor x = bf16_random({4, 16});
    x[2][3] = bad;
    x.requires_grad_();
    const torch::Tensor w = bf16_random({16, 16}).requires_grad_();
    const Float8Layer layer(Float8Job(), Float8Kernel::scaled_mm);
    const torch::Tensor y = float8_linear(x, w, {}, layer);
    EXPECT_FALSE(y[2].isfinite().any().item<bool>());
    EXPECT_TRUE(y[0].isfinite().all().item<bool>());
    torch::Tensor g = torch::ones_like(y);
    g[1][5] = bad;
    y.backward(g);
    EXPECT_FALSE(x.grad()[1].isfinite().any().item<bool>());
    EXPECT_FALSE(w.grad()[5].isfinite().any().item<bool>());
  }
}

// Two products backward, or one where nobody asks for the input's gradient.
TEST(Float8Linear, CountsItsOperationsAndCopies) {
  const torch::Tensor w = bf16_random({32, 16}).requires_grad_();
  const Float8Layer first(Float8Job(), Float8Kernel::scaled_mm);
  float8_linear(bf16_random({8, 16}), w, {}, first).sum().backward();
  EXPECT_EQ(first->flops, 2 * 2 * 8 * 16 * 32);
  EXPECT_EQ(first->copy_bytes, 16 * 16 + 32 * 16);  // padded to 16 samples; a byte an element
  const Float8Layer later(Float8Job(), Float8Kernel::scaled_mm);
  float8_linear(bf16_random({8, 16}).requires_grad_(), w, {}, later).sum().backward();
  EXPECT_EQ(later->flops, 3 * 2 * 8 * 16 * 32);
}

class TwoLayers : public Model {
 public:
  TwoLayers() {
    first = register_module("first", Linear(24, 32, GemmBackend::library_default));
    norm = register_module("norm", LayerNorm(32));
    head = register_module("head", Linear(32, 10, GemmBackend::library_default));
    idle = register_module("idle", Linear(16, 48, GemmBackend::library_default));
  }
  torch::Tensor forward(const torch::Tensor& input) override {
    return head->forward(norm->forward(first->forward(input)));
  }
  Linear first{nullptr}, head{nullptr}, idle{nullptr};
  LayerNorm norm{nullptr};
};

// Lightning Fabric's test: 16 -> 48 is replaced, what misses 8 and 16 is kept.
TEST(Float8Layers, TakesWhatFabricTakes) {
  const auto precision = precision_of("transformer-engine");
  TwoLayers model;
  precision->convert_module(model);
  precision->backward(precision->forward(model, ramp({8, 24})).sum());
  const json report = precision->float8()->report();
  EXPECT_EQ(report.at("layers"), json({"first"}));
  EXPECT_EQ(report.at("idle"), json({"idle"}));
  EXPECT_EQ(report.at("kept"), json::parse(R"([{"name": "head", "in": 32, "out": 10}])"));
  EXPECT_EQ(precision->float8()->notes("bfloat16").at(0),
            "head (32 -> 10) stays in bfloat16: FP8 takes inputs divisible by 8 and outputs by 16");
}

TEST(Float8Layers, WeightsAreHalfAndResultsFloat) {
  for (const auto& [mode, type] : {std::pair{"transformer-engine", torch::kBFloat16},
                                   std::pair{"transformer-engine-float16", torch::kHalf}}) {
    const auto precision = precision_of(mode);
    TwoLayers model;
    precision->convert_module(model);
    EXPECT_EQ(model.first->weight.scalar_type(), type);
    EXPECT_EQ(model.norm->weight.scalar_type(), type);
    const torch::Tensor output = precision->forward(model, ramp({8, 24}));
    EXPECT_EQ(output.scalar_type(), torch::kFloat);
    precision->backward(output.sum());
    EXPECT_EQ(model.first->weight.grad().scalar_type(), type);
    EXPECT_EQ(precision->scaler(), nullptr);
  }
}

std::vector<torch::Tensor> copies(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> result;
  for (const torch::Tensor& tensor : tensors) result.push_back(tensor.clone());
  return result;
}

bool same(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& left, const auto& right) { return left.equal(right); });
}

TEST(Float8Layers, ScalesMoveInTrainingAndNotInEvaluation) {
  const auto precision = precision_of("transformer-engine");
  TwoLayers model;
  precision->convert_module(model);
  const auto before = copies(model.buffers());
  {
    torch::NoGradGuard no_grad;
    precision->forward(model, ramp({8, 24}) * 100);
  }
  EXPECT_TRUE(same(model.buffers(), before));
  const torch::Tensor output = precision->forward(model, ramp({8, 24}));
  const auto state = model.named_buffers();
  EXPECT_EQ(state["first.fp8.input_scale"].item<float>(), 448.0F);  // ramp: from -1 to 1
  EXPECT_EQ(state["first.fp8.gradient_scale"].item<float>(), 1.0F);
  precision->backward(output.sum());
  EXPECT_NE(state["first.fp8.gradient_scale"].item<float>(), 1.0F);
}

}  // namespace
}  // namespace precbench::train::float8_linear_test
