// The Vision Transformer of timm (timm.models.vision_transformer), by default with the sizes of its
// vit_tiny_patch16_224: names, initialisation and order of operations are timm's.
#include "train/models/initialization.h"
#include "train/models/layers.h"
#include "train/models/model.h"
#include "train/models/model_options.h"
#include "train/models/registry.h"

namespace precbench::train::vit_tiny {
namespace {

constexpr int64_t kMlpRatio = 4;
constexpr double kEpsilon = 1e-6;
constexpr double kInitialStd = 0.02;

// Below this a patch of 16 pixels would leave less than 7x7 tokens; small images get timm's other
// usual size, 4.
constexpr int64_t kSmallestLargeImage = 112;

class AttentionImpl : public torch::nn::Module {
 public:
  AttentionImpl(int64_t dim, int64_t heads, GemmBackend gemm) : heads_(heads) {
    qkv_ = register_module("qkv", Linear(dim, 3 * dim, gemm));
    proj_ = register_module("proj", Linear(dim, dim, gemm));
  }

  // [batch, tokens, dim] -> the same.
  torch::Tensor forward(const torch::Tensor& input) {
    const int64_t batch = input.size(0), tokens = input.size(1), dim = input.size(2);
    const auto parts = qkv_->forward(input)
                           .reshape({batch, tokens, 3, heads_, dim / heads_})
                           .permute({2, 0, 3, 1, 4})
                           .unbind(0);
    const torch::Tensor x = at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
    return proj_->forward(x.transpose(1, 2).reshape({batch, tokens, dim}));
  }

 private:
  int64_t heads_;
  Linear qkv_{nullptr}, proj_{nullptr};
};
TORCH_MODULE(Attention);

class MlpImpl : public torch::nn::Module {
 public:
  MlpImpl(int64_t dim, GemmBackend gemm) {
    fc1_ = register_module("fc1", Linear(dim, kMlpRatio * dim, gemm));
    fc2_ = register_module("fc2", Linear(kMlpRatio * dim, dim, gemm));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    return fc2_->forward(torch::gelu(fc1_->forward(input)));
  }

 private:
  Linear fc1_{nullptr}, fc2_{nullptr};
};
TORCH_MODULE(Mlp);

class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(int64_t dim, int64_t heads, GemmBackend gemm) {
    norm1_ = register_module("norm1", LayerNorm(dim, kEpsilon));
    attn_ = register_module("attn", Attention(dim, heads, gemm));
    norm2_ = register_module("norm2", LayerNorm(dim, kEpsilon));
    mlp_ = register_module("mlp", Mlp(dim, gemm));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor x = input + attn_->forward(norm1_->forward(input));
    return x + mlp_->forward(norm2_->forward(x));
  }

 private:
  LayerNorm norm1_{nullptr}, norm2_{nullptr};
  Attention attn_{nullptr};
  Mlp mlp_{nullptr};
};
TORCH_MODULE(Block);

// timm's name for the convolution that cuts the image into patches.
class PatchEmbedImpl : public torch::nn::Module {
 public:
  PatchEmbedImpl(int64_t channels, int64_t dim, int64_t patch) {
    proj_ = register_module(
        "proj", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, dim, patch).stride(patch)));
  }

  // [batch, channels, height, width] -> [batch, patches, dim].
  torch::Tensor forward(const torch::Tensor& input) {
    return proj_->forward(input).flatten(2).transpose(1, 2);
  }

 private:
  torch::nn::Conv2d proj_{nullptr};
};
TORCH_MODULE(PatchEmbed);

class VisionTransformer : public Model {
 public:
  VisionTransformer(const SampleShape& shape, const json& options, GemmBackend gemm);
  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  void draw_weights();

  torch::Tensor cls_token_, pos_embed_;
  PatchEmbed patch_embed_{nullptr};
  torch::nn::Sequential blocks_{nullptr};
  LayerNorm norm_{nullptr};
  Linear head_{nullptr};
};

VisionTransformer::VisionTransformer(const SampleShape& shape, const json& options,
                                     GemmBackend gemm) {
  const bool is_large = std::min(shape.height, shape.width) >= kSmallestLargeImage;
  const int64_t dim = size_option(options, "dim", 192);
  const int64_t depth = size_option(options, "depth", 12);
  const int64_t heads = size_option(options, "heads", 3);
  const int64_t patch = size_option(options, "patch", is_large ? 16 : 4);
  require_fit(dim % heads == 0, "model vit_tiny needs a dim that its heads divide");
  require_fit(shape.height % patch == 0 && shape.width % patch == 0,
              "model vit_tiny needs images whose sides are multiples of its patch, " +
                  std::to_string(patch) + " pixels");
  patch_embed_ = register_module("patch_embed", PatchEmbed(shape.channels, dim, patch));
  const int64_t tokens = (shape.height / patch) * (shape.width / patch) + 1;
  cls_token_ = register_parameter("cls_token", torch::empty({1, 1, dim}));
  pos_embed_ = register_parameter("pos_embed", torch::empty({1, tokens, dim}));
  torch::nn::Sequential blocks;
  for (int64_t i = 0; i < depth; ++i) blocks->push_back(Block(dim, heads, gemm));
  blocks_ = register_module("blocks", blocks);
  norm_ = register_module("norm", LayerNorm(dim, kEpsilon));
  head_ = register_module("head", Linear(dim, shape.classes, gemm));
  draw_weights();
}

// init_weights_vit_timm, after each layer has drawn its own.
void VisionTransformer::draw_weights() {
  trunc_normal_(pos_embed_, kInitialStd);
  torch::nn::init::normal_(cls_token_, 0.0, 1e-6);
  for (const auto& module : modules(/*include_self=*/false)) {
    if (const auto* layer = module->as<LinearImpl>()) {
      trunc_normal_(layer->weight, kInitialStd);
      torch::nn::init::zeros_(layer->bias);
    }
  }
}

torch::Tensor VisionTransformer::forward(const torch::Tensor& input) {
  torch::Tensor x = patch_embed_->forward(input);
  x = torch::cat({cls_token_.expand({x.size(0), -1, -1}), x}, 1);
  x = norm_->forward(blocks_->forward(x + pos_embed_));
  return head_->forward(x.select(1, 0));
}

const ModelRegistration kRegistration("vit_tiny", construct_with_options<VisionTransformer>);

}  // namespace
}  // namespace precbench::train::vit_tiny
