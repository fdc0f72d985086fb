// Which operation runs in which dtype on CUDA, below autocast and autograd: LibTorch's own CUDA
// autocast on a device that computes nothing. Expected: PyTorch's "CUDA Op-Specific Behavior"
// (docs/source/amp.rst) and aten/src/ATen/autocast_mode.h.
#include <ATen/autocast_mode.h>

#include "support.h"
#include "train/precision/scopes.h"

namespace precbench::train::simulated::dtype_flow_test {
namespace {

using at::kFloat;

class CudaAutocast : public testing::TestWithParam<at::ScalarType> {
 protected:
  at::ScalarType low() const { return GetParam(); }

  // Runs the work in an autocast region of the card.
  std::vector<TracedOperation> under_autocast(const std::function<void()>& work) {
    return traced([&] {
      const AutocastScope scope(at::kCUDA, low());
      work();
    });
  }

  SimulatedDevice device_ = card("a100");
  torch::Tensor images_ = on_card({4, 3, 16, 16});
  torch::Tensor rows_ = on_card({8, 32});
};

TEST_P(CudaAutocast, ConvolutionsRunInTheLowDtype) {
  const auto trace = under_autocast([&] {
    at::conv2d(images_, parameter({8, 3, 3, 3}), parameter({8}), 1, 1);
  });
  EXPECT_EQ(inputs_of(trace, "aten::cudnn_convolution"), Dtypes{low()});
}

TEST_P(CudaAutocast, TransposedConvolutionsRunInTheLowDtype) {
  const auto trace = under_autocast([&] {
    at::conv_transpose2d(images_, parameter({3, 8, 2, 2}), parameter({8}), 2);
  });
  EXPECT_EQ(inputs_of(trace, "aten::cudnn_convolution_transpose"), Dtypes{low()});
}

TEST_P(CudaAutocast, LinearLayersRunInTheLowDtype) {
  const auto trace = under_autocast([&] {
    at::linear(rows_, parameter({16, 32}), parameter({16}));
  });
  EXPECT_EQ(inputs_of(trace, "aten::addmm.out"), Dtypes{low()});
}

TEST_P(CudaAutocast, MatrixProductsRunInTheLowDtype) {
  const auto trace = under_autocast([&] {
    at::matmul(rows_, on_card({32, 4}));
    at::bmm(on_card({2, 3, 4}), on_card({2, 4, 5}));
    at::einsum("ij,kj->ik", {rows_, rows_});
  });
  EXPECT_EQ(inputs_of(trace, "aten::mm.out"), Dtypes{low()});
  EXPECT_EQ(inputs_of(trace, "aten::bmm.out"), Dtypes{low()});
}

TEST_P(CudaAutocast, LayerNormRunsInFloat32) {
  torch::Tensor output;
  const auto trace = under_autocast(
      [&] { output = at::layer_norm(rows_.to(low()), {32}, parameter({32}), parameter({32})); });
  EXPECT_EQ(inputs_of(trace, "aten::native_layer_norm"), Dtypes{kFloat});
  EXPECT_EQ(output.scalar_type(), kFloat);
}

TEST_P(CudaAutocast, GroupNormRunsInFloat32) {
  const auto trace = under_autocast([&] {
    at::group_norm(on_card({4, 8, 4, 4}).to(low()), 2, parameter({8}), parameter({8}));
  });
  EXPECT_EQ(inputs_of(trace, "aten::native_group_norm"), Dtypes{kFloat});
}

// batch_norm is in no list: activations stay low, weights and statistics float32.
TEST_P(CudaAutocast, BatchNormKeepsTheActivationsDtype) {
  torch::Tensor output;
  under_autocast([&] {
    output = at::batch_norm(images_.to(low()), parameter({3}), parameter({3}), on_card({3}),
                            on_card({3}), /*training=*/true, 0.1, 1e-5, /*cudnn_enabled=*/true);
  });
  EXPECT_EQ(output.scalar_type(), low());
}

TEST_P(CudaAutocast, SoftmaxRunsInFloat32) {
  torch::Tensor output;
  under_autocast([&] { output = at::softmax(rows_.to(low()), 1); });
  EXPECT_EQ(output.scalar_type(), kFloat);
}

TEST_P(CudaAutocast, LossesRunInFloat32) {
  const torch::Tensor target = on_card({8}, at::kLong);
  std::vector<torch::Tensor> losses;
  under_autocast([&] {
    losses.push_back(at::cross_entropy_loss(rows_.to(low()), target));
    losses.push_back(at::mse_loss(rows_.to(low()), rows_));
    losses.push_back(at::binary_cross_entropy_with_logits(rows_.to(low()), rows_));
    losses.push_back(at::smooth_l1_loss(rows_.to(low()), rows_));
  });
  for (const torch::Tensor& loss : losses) EXPECT_EQ(loss.scalar_type(), kFloat);
}

// Without the cast of the output to float32, a loss outside of autocast would be in the low dtype:
// the test of the losses could fail.
TEST_P(CudaAutocast, LossesOfLowLogitsOutsideOfItAreLow) {
  EXPECT_EQ(at::cross_entropy_loss(rows_.to(low()), on_card({8}, at::kLong)).scalar_type(), low());
}

TEST_P(CudaAutocast, SumsAndProductsRunInFloat32) {
  under_autocast([&] {
    EXPECT_EQ(at::sum(rows_.to(low())).scalar_type(), kFloat);
    EXPECT_EQ(at::prod(rows_.to(low()), 1).scalar_type(), kFloat);
    EXPECT_EQ(at::cumsum(rows_.to(low()), 1).scalar_type(), kFloat);
    EXPECT_EQ(at::pow(rows_.to(low()), 2).scalar_type(), kFloat);
  });
}

TEST_P(CudaAutocast, WhatIsInNoListKeepsItsDtype) {
  const torch::Tensor input = images_.to(low());
  under_autocast([&] {
    EXPECT_EQ(at::relu(input).scalar_type(), low());
    EXPECT_EQ(at::gelu(input).scalar_type(), low());
    EXPECT_EQ(at::max_pool2d(input, 2).scalar_type(), low());
    EXPECT_EQ(at::adaptive_avg_pool2d(input, {1, 1}).scalar_type(), low());
    EXPECT_EQ(at::dropout(input, 0.1, true).scalar_type(), low());
    EXPECT_EQ(at::mean(input, {2, 3}).scalar_type(), low());
  });
}

TEST_P(CudaAutocast, MixedSumsAreFloat32) {
  under_autocast([&] { EXPECT_EQ((rows_.to(low()) + rows_).scalar_type(), kFloat); });
}

TEST_P(CudaAutocast, EmbeddingsStayFloat32) {
  under_autocast([&] {
    const torch::Tensor tokens = on_card({2, 5}, at::kLong);
    EXPECT_EQ(at::embedding(parameter({10, 4}), tokens).scalar_type(), kFloat);
  });
}

TEST_P(CudaAutocast, Float64IsLeftAlone) {
  const auto trace = under_autocast([&] {
    at::matmul(rows_.to(at::kDouble), on_card({32, 4}, at::kDouble));
  });
  EXPECT_EQ(inputs_of(trace, "aten::mm.out"), Dtypes{at::kDouble});
}

TEST_P(CudaAutocast, ParameterGradientsAreFloat32AndComputedInTheLowDtype) {
  const torch::Tensor weight = parameter({16, 32}), bias = parameter({16});
  const auto trace = traced([&] {
    torch::Tensor output;
    {
      const AutocastScope scope(at::kCUDA, low());
      output = at::linear(rows_, weight, bias);
    }
    output.to(kFloat).sum().backward();
  });
  EXPECT_EQ(weight.grad().scalar_type(), kFloat);
  EXPECT_EQ(bias.grad().scalar_type(), kFloat);
  EXPECT_EQ(inputs_of(trace, "aten::mm.out"), Dtypes{low()});
}

TEST_P(CudaAutocast, ConvolutionGradientsAreComputedInTheLowDtype) {
  const torch::Tensor weight = parameter({8, 3, 3, 3});
  const auto trace = traced([&] {
    torch::Tensor output;
    {
      const AutocastScope scope(at::kCUDA, low());
      output = at::conv2d(images_, weight, {}, 1, 1);
    }
    output.to(kFloat).sum().backward();
  });
  EXPECT_EQ(inputs_of(trace, "cudnn_convolution_backward"), Dtypes{low()});
  EXPECT_EQ(weight.grad().scalar_type(), kFloat);
}

TEST_P(CudaAutocast, AttentionRunsInTheLowDtype) {
  const torch::Tensor heads = parameter({2, 4, 16, 32});
  const auto trace = under_autocast([&] { at::scaled_dot_product_attention(heads, heads, heads); });
  EXPECT_EQ(inputs_of(trace, "aten::_scaled_dot_product_flash_attention"), Dtypes{low()});
}

// Casts of leaves are made once in a region and kept until it ends.
TEST_P(CudaAutocast, CastsAWeightOnceInARegion) {
  const torch::Tensor weight = parameter({16, 32});
  const auto copies = [&](int regions, int uses) {
    int64_t count = 0;
    const auto trace = traced([&] {
      for (int region = 0; region < regions; ++region) {
        const AutocastScope scope(at::kCUDA, low());
        for (int use = 0; use < uses; ++use) at::linear(rows_, weight);
      }
    });
    for (const auto& operation : trace) {
      const bool is_cast = operation.name == "aten::copy_" && operation.outputs.front() == low();
      if (is_cast) ++count;
    }
    return count;
  };
  EXPECT_EQ(copies(1, 1), 2);  // the rows and the weight
  EXPECT_EQ(copies(1, 3), 4);  // the rows three times
  EXPECT_EQ(copies(3, 1), 6);
}

TEST_P(CudaAutocast, LeavesNoCastBehind) {
  const torch::Tensor weight = parameter({16, 32});
  const auto work = [&] { at::linear(rows_, weight); };
  under_autocast(work);  // takes cuBLAS's workspace, which stays
  const int64_t before = gpu().memory().stats().requested;
  under_autocast(work);
  EXPECT_EQ(gpu().memory().stats().requested, before);
}

INSTANTIATE_TEST_SUITE_P(Of, CudaAutocast, testing::Values(at::kHalf, at::kBFloat16),
                         [](const auto& info) { return std::string(toString(info.param)); });

TEST(CudaAutocastList, RefusesBinaryCrossEntropyOfProbabilities) {
  const auto device = card("a100");
  const AutocastScope scope(at::kCUDA, at::kHalf);
  EXPECT_THROW(at::binary_cross_entropy(on_card({4}), on_card({4})), c10::Error);
}

// cuDNN has no bf16 convolutions before 8.0 (CUDAHooks::supportsBFloat16ConvolutionWithCuDNNv8).
TEST(CudaConvolution, RunsWithoutCudnnInBf16OnAT4) {
  const auto device = card("t4");
  const auto convolve = [](at::ScalarType dtype) {
    return traced([&] {
      at::conv2d(on_card({4, 3, 16, 16}, dtype), on_card({8, 3, 3, 3}, dtype));
    });
  };
  EXPECT_TRUE(ran(convolve(at::kBFloat16), "aten::_slow_conv2d_forward"));
  EXPECT_TRUE(ran(convolve(at::kHalf), "aten::cudnn_convolution"));
}

// No fused kernel takes bf16 on 7.5: products and softmax run in float32 copies
// (aten/src/ATen/native/transformers/attention.cpp, _scaled_dot_product_attention_math).
TEST(CudaAttention, MultipliesInFloat32InBf16OnAT4) {
  const auto device = card("t4");
  const torch::Tensor heads = on_card({2, 4, 16, 32}, at::kBFloat16);
  torch::Tensor output;
  const auto trace =
      traced([&] { output = at::scaled_dot_product_attention(heads, heads, heads); });
  EXPECT_EQ(inputs_of(trace, "aten::bmm.out"), Dtypes{kFloat});
  EXPECT_EQ(output.scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace precbench::train::simulated::dtype_flow_test
