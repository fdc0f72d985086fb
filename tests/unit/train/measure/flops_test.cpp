#include "train/measure/flops.h"

#include <functional>

#include "../support.h"
#include "train/measure/dtype_observer.h"

namespace precbench::train::flops_test {
namespace {

double flops_of(const std::function<void()>& work) {
  const DtypeObserver observer(at::kCPU);
  work();
  return observer.observed().flops;
}

TEST(Flops, OfProductsAreTwoForEachMultiplication) {
  EXPECT_EQ(flops_of([] { at::mm(torch::ones({3, 5}), torch::ones({5, 7})); }), 2 * 3 * 5 * 7);
  EXPECT_EQ(flops_of([] {
              at::linear(torch::ones({3, 5}), torch::ones({7, 5}), torch::ones({7}));
            }),
            2 * 3 * 5 * 7);
  EXPECT_EQ(flops_of([] {
              at::bmm(torch::ones({2, 3, 5}), torch::ones({2, 5, 7}));
            }),
            2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(flops_of([] { torch::ones({100}) + torch::ones({100}); }), 0);
}

// One product forward, two backward: for the input's gradient and for the weight's.
TEST(Flops, OfALinearLayersStepAreThreeProducts) {
  const auto step = [] {
    torch::Tensor x = torch::ones({3, 5}, torch::requires_grad());
    at::linear(x, torch::ones({7, 5}, torch::requires_grad())).sum().backward();
  };
  EXPECT_EQ(flops_of(step), 3 * 2 * 3 * 5 * 7);
}

// [2, 4, 9, 9] with 6 filters of 3x3, stride 2, padding 1: 5x5 outputs.
TEST(Flops, OfAConvolutionAreAFilterForEachOutput) {
  const double forward = 2.0 * (6 * 4 * 3 * 3) * (2 * 5 * 5);
  const auto convolve = [](const torch::Tensor& x, const torch::Tensor& w) {
    return at::conv2d(x, w, {}, at::IntArrayRef{2}, at::IntArrayRef{1});
  };
  EXPECT_EQ(flops_of([&] {
              convolve(torch::ones({2, 4, 9, 9}), torch::ones({6, 4, 3, 3}));
            }),
            forward);
  const auto first_layer = [&] {
    convolve(torch::ones({2, 4, 9, 9}), torch::ones({6, 4, 3, 3}, torch::requires_grad()))
        .sum()
        .backward();
  };
  EXPECT_EQ(flops_of(first_layer), 2 * forward);
  const auto later_layer = [&] {
    convolve(torch::ones({2, 4, 9, 9}, torch::requires_grad()),
             torch::ones({6, 4, 3, 3}, torch::requires_grad()))
        .sum()
        .backward();
  };
  EXPECT_EQ(flops_of(later_layer), 3 * forward);
  EXPECT_EQ(flops_of([] {
              at::conv2d(torch::ones({2, 4, 9, 9}), torch::ones({6, 2, 3, 3}), {},
                         at::IntArrayRef{1}, at::IntArrayRef{0}, at::IntArrayRef{1}, 2);
            }),
            2.0 * (6 * 2 * 3 * 3) * (2 * 7 * 7));
}

// Scores and the weighted sum: two products over 8 x 8 pairs; backward five (flop_counter's
// sdpa_backward_flop).
TEST(Flops, OfAttentionAreTwoProductsAndFive) {
  const double pairs = 2.0 * 3 * 8 * 8;
  const auto step = [](bool differentiates) {
    const auto make = [&] {
      return torch::randn({2, 3, 8, 16}, at::requires_grad(differentiates));
    };
    const torch::Tensor y = at::scaled_dot_product_attention(make(), make(), make());
    if (differentiates) y.sum().backward();
  };
  EXPECT_EQ(flops_of([&] { step(false); }), 2 * 2 * pairs * 16);
  EXPECT_EQ(flops_of([&] { step(true); }), (2 + 5) * 2 * pairs * 16);
}

TEST(Flops, AKernelInsideAKernelCountsOnce) {
  const auto scaled = [] {
    const torch::Tensor one = torch::ones({1});
    const torch::Tensor a = torch::ones({16, 32}).to(at::kFloat8_e4m3fn);
    at::_scaled_mm(a, a.t(), one, one, {}, {}, at::kBFloat16);
  };
  const DtypeObserver observer(at::kCPU);
  scaled();
  EXPECT_EQ(observer.observed().flops, 2 * 16 * 16 * 32);
  EXPECT_EQ(observer.observed().compute, std::set<at::ScalarType>{at::kFloat8_e4m3fn});
}

}  // namespace
}  // namespace precbench::train::flops_test
