// ResNet-18 and ResNet-50 (He et al. 2015) with torchvision's names, initialisation and order of
// operations; in the bottleneck the 3x3 convolution has the stride, as there ("ResNet V1.5").
#include "train/models/layers.h"
#include "train/models/model.h"
#include "train/models/model_options.h"
#include "train/models/registry.h"

namespace precbench::train::resnet {
namespace {

using torch::nn::BatchNorm2d;
using torch::nn::Conv2d;

Conv2d convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return Conv2d(
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

// Where a block changes the shape, its input is projected.
torch::nn::Sequential projection(int64_t in, int64_t out, int64_t stride) {
  torch::nn::Sequential downsample;
  downsample->push_back(convolution(in, out, 1, stride));
  downsample->push_back(BatchNorm2d(out));
  return downsample;
}

struct BasicBlockImpl : torch::nn::Module {
  static constexpr int64_t kExpansion = 1;

  BasicBlockImpl(int64_t in, int64_t planes, int64_t stride, torch::nn::Sequential shortcut)
      : downsample(std::move(shortcut)) {
    conv1 = register_module("conv1", convolution(in, planes, 3, stride));
    bn1 = register_module("bn1", BatchNorm2d(planes));
    conv2 = register_module("conv2", convolution(planes, planes, 3, 1));
    bn2 = register_module("bn2", BatchNorm2d(planes));
    if (downsample) register_module("downsample", downsample);
  }

  torch::Tensor forward(const torch::Tensor& input) {
    torch::Tensor x = bn1->forward(conv1->forward(input)).relu_();
    x = bn2->forward(conv2->forward(x));
    x += downsample ? downsample->forward(input) : input;
    return x.relu_();
  }

  Conv2d conv1{nullptr}, conv2{nullptr};
  BatchNorm2d bn1{nullptr}, bn2{nullptr};
  torch::nn::Sequential downsample{nullptr};
};
TORCH_MODULE(BasicBlock);

struct BottleneckImpl : torch::nn::Module {
  static constexpr int64_t kExpansion = 4;

  BottleneckImpl(int64_t in, int64_t planes, int64_t stride, torch::nn::Sequential shortcut)
      : downsample(std::move(shortcut)) {
    conv1 = register_module("conv1", convolution(in, planes, 1, 1));
    bn1 = register_module("bn1", BatchNorm2d(planes));
    conv2 = register_module("conv2", convolution(planes, planes, 3, stride));
    bn2 = register_module("bn2", BatchNorm2d(planes));
    conv3 = register_module("conv3", convolution(planes, planes * kExpansion, 1, 1));
    bn3 = register_module("bn3", BatchNorm2d(planes * kExpansion));
    if (downsample) register_module("downsample", downsample);
  }

  torch::Tensor forward(const torch::Tensor& input) {
    torch::Tensor x = bn1->forward(conv1->forward(input)).relu_();
    x = bn2->forward(conv2->forward(x)).relu_();
    x = bn3->forward(conv3->forward(x));
    x += downsample ? downsample->forward(input) : input;
    return x.relu_();
  }

  Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  BatchNorm2d bn1{nullptr}, bn2{nullptr}, bn3{nullptr};
  torch::nn::Sequential downsample{nullptr};
};
TORCH_MODULE(Bottleneck);

// ImageNet's stem (7x7 with stride 2, then a pooling) leaves 8 px of a 32 px image before the first
// block; on small images a 3x3 convolution without pooling takes its place, as is usual on CIFAR
// (He et al. 2015, section 4.2).
constexpr int64_t kLargestSmallImage = 64;

bool has_cifar_stem(const SampleShape& shape, const json& options) {
  const auto found = options.find("stem");
  if (found == options.end()) return std::min(shape.height, shape.width) <= kLargestSmallImage;
  require_fit(*found == "imagenet" || *found == "cifar",
              "model option stem must be imagenet or cifar");
  return *found == "cifar";
}

template <typename Block>
class ResNet : public Model {
 public:
  ResNet(const SampleShape& shape, const json& options, GemmBackend gemm,
         const std::array<int64_t, 4>& blocks);
  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  using BlockImpl = typename Block::ContainedType;

  torch::nn::Sequential make_stage(int64_t planes, int64_t blocks, int64_t stride);
  void draw_weights();

  bool pools_;
  int64_t channels_ = 64;  // that the next block gets
  Conv2d conv1_{nullptr};
  BatchNorm2d bn1_{nullptr};
  std::array<torch::nn::Sequential, 4> stages_{nullptr, nullptr, nullptr, nullptr};
  Linear fc_{nullptr};
};

template <typename Block>
ResNet<Block>::ResNet(const SampleShape& shape, const json& options, GemmBackend gemm,
                      const std::array<int64_t, 4>& blocks) {
  const bool small = has_cifar_stem(shape, options);
  pools_ = !small;
  conv1_ = register_module("conv1",
                           convolution(shape.channels, channels_, small ? 3 : 7, small ? 1 : 2));
  bn1_ = register_module("bn1", BatchNorm2d(channels_));
  int64_t planes = channels_;
  for (size_t i = 0; i < blocks.size(); ++i, planes *= 2) {
    const std::string name = "layer" + std::to_string(i + 1);
    stages_[i] = register_module(name, make_stage(planes, blocks[i], i == 0 ? 1 : 2));
  }
  fc_ = register_module("fc", Linear(channels_, shape.classes, gemm));
  draw_weights();
}

template <typename Block>
torch::nn::Sequential ResNet<Block>::make_stage(int64_t planes, int64_t blocks, int64_t stride) {
  const int64_t out = planes * BlockImpl::kExpansion;
  torch::nn::Sequential stage;
  for (int64_t i = 0; i < blocks; ++i) {
    torch::nn::Sequential shortcut(nullptr);
    if (i == 0 && (stride != 1 || channels_ != out)) shortcut = projection(channels_, out, stride);
    stage->push_back(Block(channels_, planes, i == 0 ? stride : 1, shortcut));
    channels_ = out;
  }
  return stage;
}

template <typename Block>
void ResNet<Block>::draw_weights() {
  for (const auto& module : modules(/*include_self=*/false)) {
    if (const auto* layer = module->template as<torch::nn::Conv2dImpl>()) {
      torch::nn::init::kaiming_normal_(layer->weight, 0, torch::kFanOut, torch::kReLU);
    }
  }
}

template <typename Block>
torch::Tensor ResNet<Block>::forward(const torch::Tensor& input) {
  torch::Tensor x = bn1_->forward(conv1_->forward(input)).relu_();
  if (pools_) x = torch::max_pool2d(x, 3, 2, 1);
  for (auto& stage : stages_) x = stage->forward(x);
  x = torch::flatten(torch::adaptive_avg_pool2d(x, {1, 1}), 1);
  return fc_->forward(x);
}

struct ResNet18 : ResNet<BasicBlock> {
  ResNet18(const SampleShape& shape, const json& options, GemmBackend gemm)
      : ResNet(shape, options, gemm, {2, 2, 2, 2}) {}
};

struct ResNet50 : ResNet<Bottleneck> {
  ResNet50(const SampleShape& shape, const json& options, GemmBackend gemm)
      : ResNet(shape, options, gemm, {3, 4, 6, 3}) {}
};

const ModelRegistration kResNet18("resnet18", construct_with_options<ResNet18>);
const ModelRegistration kResNet50("resnet50", construct_with_options<ResNet50>);

}  // namespace
}  // namespace precbench::train::resnet
