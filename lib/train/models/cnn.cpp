// The small convolutional network of the default workload: two 3x3 convolutions (32, 64), each with
// ReLU and 2x2 max pooling, then linear layers of 128 and `classes`.
#include <stdexcept>

#include "train/models/layers.h"
#include "train/models/model.h"
#include "train/models/registry.h"

namespace precbench::train::cnn {
namespace {

class Cnn : public Model {
 public:
  Cnn(const SampleShape& shape, GemmBackend gemm);
  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
  Linear fc1_{nullptr}, fc2_{nullptr};
};

Cnn::Cnn(const SampleShape& shape, GemmBackend gemm) {
  constexpr int64_t kFirst = 32, kSecond = 64, kHidden = 128;
  if (shape.height < 4 || shape.width < 4) {
    throw std::invalid_argument("model cnn needs images of at least 4x4 pixels");
  }
  // One statement per layer: the order in which C++ evaluates arguments is not fixed, and each
  // layer draws its weights when it is made.
  conv1_ = register_module(
      "conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(shape.channels, kFirst, 3).padding(1)));
  conv2_ = register_module(
      "conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(kFirst, kSecond, 3).padding(1)));
  const int64_t pixels = (shape.height / 4) * (shape.width / 4);
  fc1_ = register_module("fc1", Linear(kSecond * pixels, kHidden, gemm));
  fc2_ = register_module("fc2", Linear(kHidden, shape.classes, gemm));
}

// The 2x2 maxima of relu(x). In channels_last the maxima come first: the outputs and gradients are
// the same numbers, and ReLU works on a quarter of the values. A contiguous tensor keeps the order
// in which PyTorch's users write it, so that time and memory are theirs.
torch::Tensor relu_and_pool(const torch::Tensor& x) {
  const bool pool_first = x.suggest_memory_format() == at::MemoryFormat::ChannelsLast;
  return pool_first ? torch::relu(torch::max_pool2d(x, 2)) : torch::max_pool2d(torch::relu(x), 2);
}

torch::Tensor Cnn::forward(const torch::Tensor& input) {
  torch::Tensor x = relu_and_pool(conv1_->forward(input));
  x = relu_and_pool(conv2_->forward(x));
  x = torch::relu(fc1_->forward(torch::flatten(x, 1)));
  return fc2_->forward(x);
}

const ModelRegistration kRegistration("cnn", construct<Cnn>);

}  // namespace
}  // namespace precbench::train::cnn
