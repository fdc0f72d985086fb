#include "../support.h"
#include "train/base/errors.h"
#include "train/models/onednn_linear.h"
#include "train/models/registry.h"

namespace precbench::train::models_test {
namespace {

int64_t parameter_count(const Model& model) {
  int64_t count = 0;
  for (const torch::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

// Sums of layer sizes: 320 + 18496 + 401536 + 1290, and 401920 + 262656 + 5130.
TEST(Models, HaveTheirPublishedSizes) {
  EXPECT_EQ(parameter_count(*make_model("cnn", {}, {}, GemmBackend::library_default)), 421642);
  EXPECT_EQ(parameter_count(*make_model("mlp", {}, {}, GemmBackend::library_default)), 669706);
}

TEST(Models, FollowTheShapeOfTheData) {
  const SampleShape shape{3, 33, 18, 7};
  for (const char* name : {"cnn", "mlp"}) {
    const auto model = make_model(name, shape, {}, GemmBackend::library_default);
    EXPECT_EQ(model->forward(ramp({2, 3, 33, 18})).sizes(), (std::vector<int64_t>{2, 7})) << name;
  }
}

TEST(Models, NameParametersAsPythonDoes) {
  std::vector<std::string> names;
  for (const auto& item :
       make_model("cnn", {}, {}, GemmBackend::library_default)->named_parameters()) {
    names.push_back(item.key());
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                      "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
}

// torch.manual_seed(42); nn.Conv2d(1, 32, 3, padding=1); nn.Linear(4, 3); printed by PyTorch 2.11.
TEST(Models, DrawTheWeightsOfPython) {
  const float tolerance = has_fma_kernels() ? 0 : 1e-7F;
  torch::manual_seed(42);
  const torch::nn::Conv2d conv(torch::nn::Conv2dOptions(1, 32, 3).padding(1));
  const Linear linear(4, 3, GemmBackend::library_default);
  EXPECT_NEAR(conv->weight.view(-1)[1].item<float>(), 0x1.1b4f34p-2F, tolerance);
  EXPECT_NEAR(conv->bias[0].item<float>(), 0x1.1e2680p-2F, tolerance);
  EXPECT_NEAR(linear->weight[0][0].item<float>(), -0x1.63dba4p-2F, tolerance);
  EXPECT_NEAR(linear->bias[2].item<float>(), 0x1.fd6a28p-3F, tolerance);
}

// In channels_last ReLU follows the pooling.
TEST(Models, PoolingBeforeReluLeavesEveryNumberAsItIs) {
  torch::manual_seed(5);
  const auto model = make_model("cnn", {}, {}, GemmBackend::library_default);
  const auto p = model->named_parameters();
  const torch::Tensor input =
      torch::randn({6, 1, 28, 28}).as_strided({6, 1, 28, 28}, {784, 1, 28, 1});
  ASSERT_EQ(input.suggest_memory_format(), at::MemoryFormat::ChannelsLast);
  const auto relu_first = [&](const torch::Tensor& x, const std::string& layer) {
    return at::max_pool2d(
        at::relu(at::conv2d(x, p[layer + ".weight"], p[layer + ".bias"], 1, /*padding=*/1)), 2);
  };
  torch::Tensor expected = relu_first(relu_first(input, "conv1"), "conv2").flatten(1);
  expected = at::linear(expected, p["fc1.weight"], p["fc1.bias"]).relu();
  expected = at::linear(expected, p["fc2.weight"], p["fc2.bias"]);
  const torch::Tensor output = model->forward(input);
  EXPECT_TRUE(torch::equal(output, expected));
  const torch::Tensor factor = torch::randn({6, 10});
  const auto gradients = torch::autograd::grad({(output * factor).sum()}, model->parameters());
  const auto wanted = torch::autograd::grad({(expected * factor).sum()}, model->parameters());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(torch::equal(gradients[i], wanted[i])) << p.keys()[i];
  }
}

TEST(OnednnLinear, HasTheGradientsOfTheDefault) {
  if (!has_onednn_linear()) GTEST_SKIP() << "this LibTorch has no oneDNN";
  torch::manual_seed(1);
  const torch::Tensor input = torch::randn({6, 20}, torch::requires_grad());
  Linear reference(20, 9, GemmBackend::library_default), onednn(20, 9, GemmBackend::onednn);
  {
    torch::NoGradGuard no_grad;
    onednn->weight.copy_(reference->weight);
    onednn->bias.copy_(reference->bias);
  }
  const torch::Tensor factor = torch::randn({6, 9});
  std::vector<torch::Tensor> input_gradients;
  for (Linear* layer : {&reference, &onednn}) {
    ((*layer)->forward(input) * factor).sum().backward();
    input_gradients.push_back(input.grad().clone());
    input.mutable_grad().reset();
  }
  const auto close = [](const torch::Tensor& a, const torch::Tensor& b) {
    return torch::allclose(a, b, /*rtol=*/1e-5, /*atol=*/1e-5);
  };
  EXPECT_TRUE(close(input_gradients[0], input_gradients[1]));
  EXPECT_TRUE(close(reference->weight.grad(), onednn->weight.grad()));
  EXPECT_TRUE(close(reference->bias.grad(), onednn->bias.grad()));
}

// Autograd refuses undefined tensors; gpt's head has no bias.
TEST(Layers, OnednnTakesALayerWithoutBias) {
  if (!has_onednn_linear()) GTEST_SKIP() << "this LibTorch has no oneDNN";
  Linear layer(20, 9, GemmBackend::onednn, Bias::no);
  const torch::Tensor output = layer->forward(ramp({3, 20}));
  EXPECT_TRUE(torch::allclose(output, ramp({3, 20}).mm(layer->weight.t()), 1e-5, 1e-6));
  output.sum().backward();
  EXPECT_EQ(layer->weight.grad().sizes(), layer->weight.sizes());
}

}  // namespace
}  // namespace precbench::train::models_test
