// ViT-B/16 (Dosovitskiy et al. 2020) with torchvision's names, initialisation and order of
// operations. Its attention is what torch.nn.MultiheadAttention does in training: one packed
// projection, contiguous copies of its parts, scaled_dot_product_attention (torch::nn's C++ class
// multiplies, takes the softmax and multiplies, and so keeps the attention matrix in every mode).
#include <cmath>

#include "train/models/initialization.h"
#include "train/models/layers.h"
#include "train/models/model.h"
#include "train/models/model_options.h"
#include "train/models/registry.h"

namespace precbench::train::vit_b_16 {
namespace {

constexpr int64_t kPatch = 16;  // pixels
constexpr int64_t kWidth = 768;
constexpr int64_t kHidden = 3072;  // of the feed-forward part
constexpr int64_t kHeads = 12;
constexpr int64_t kLayers = 12;
constexpr double kEpsilon = 1e-6;

class SelfAttentionImpl : public torch::nn::Module {
 public:
  explicit SelfAttentionImpl(GemmBackend gemm) : gemm_(gemm) {
    in_proj_weight_ = register_parameter("in_proj_weight", torch::empty({3 * kWidth, kWidth}));
    in_proj_bias_ = register_parameter("in_proj_bias", torch::empty({3 * kWidth}));
    out_proj_ = register_module("out_proj", Linear(kWidth, kWidth, gemm));
    torch::nn::init::xavier_uniform_(in_proj_weight_);
    torch::nn::init::zeros_(in_proj_bias_);
    torch::nn::init::zeros_(out_proj_->bias);
  }

  // [batch, tokens, width] -> the same.
  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor sequence = input.transpose(1, 0);
    const int64_t tokens = sequence.size(0), batch = sequence.size(1);
    const torch::Tensor packed = linear(sequence, in_proj_weight_, in_proj_bias_, gemm_)
                                     .unflatten(-1, {3, kWidth})
                                     .unsqueeze(0)
                                     .transpose(0, -2)
                                     .squeeze(-2)
                                     .contiguous();
    const auto heads_of = [&](int64_t part) {
      return packed[part]
          .view({tokens, batch * kHeads, kWidth / kHeads})
          .transpose(0, 1)
          .view({batch, kHeads, tokens, kWidth / kHeads});
    };
    const torch::Tensor query = heads_of(0), key = heads_of(1), value = heads_of(2);
    const torch::Tensor attended = at::scaled_dot_product_attention(query, key, value)
                                       .permute({2, 0, 1, 3})
                                       .contiguous()
                                       .view({batch * tokens, kWidth});
    // As there: its weights are read, the layer is not called. So it never runs in FP8.
    return linear(attended, out_proj_->weight, out_proj_->bias, gemm_)
        .view({tokens, batch, kWidth})
        .transpose(1, 0);
  }

 private:
  GemmBackend gemm_;
  torch::Tensor in_proj_weight_, in_proj_bias_;
  Linear out_proj_{nullptr};
};
TORCH_MODULE(SelfAttention);

// Its layers are called 0 and 3, as in torchvision's Sequential (1 is GELU, 2 and 4 are dropout).
class FeedForwardImpl : public torch::nn::Module {
 public:
  explicit FeedForwardImpl(GemmBackend gemm) {
    first_ = register_module("0", Linear(kWidth, kHidden, gemm));
    second_ = register_module("3", Linear(kHidden, kWidth, gemm));
    for (const Linear& layer : {first_, second_}) {
      torch::nn::init::xavier_uniform_(layer->weight);
      torch::nn::init::normal_(layer->bias, 0.0, 1e-6);
    }
  }

  torch::Tensor forward(const torch::Tensor& input) {
    return second_->forward(torch::gelu(first_->forward(input)));
  }

 private:
  Linear first_{nullptr}, second_{nullptr};
};
TORCH_MODULE(FeedForward);

class EncoderLayerImpl : public torch::nn::Module {
 public:
  explicit EncoderLayerImpl(GemmBackend gemm) {
    ln_1_ = register_module("ln_1", LayerNorm(kWidth, kEpsilon));
    self_attention_ = register_module("self_attention", SelfAttention(gemm));
    ln_2_ = register_module("ln_2", LayerNorm(kWidth, kEpsilon));
    mlp_ = register_module("mlp", FeedForward(gemm));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor x = self_attention_->forward(ln_1_->forward(input)) + input;
    return x + mlp_->forward(ln_2_->forward(x));
  }

 private:
  LayerNorm ln_1_{nullptr}, ln_2_{nullptr};
  SelfAttention self_attention_{nullptr};
  FeedForward mlp_{nullptr};
};
TORCH_MODULE(EncoderLayer);

class EncoderImpl : public torch::nn::Module {
 public:
  EncoderImpl(int64_t tokens, GemmBackend gemm) {
    pos_embedding_ =
        register_parameter("pos_embedding", torch::empty({1, tokens, kWidth}).normal_(0.0, 0.02));
    torch::nn::Sequential layers;
    for (int64_t i = 0; i < kLayers; ++i) {
      layers->push_back("encoder_layer_" + std::to_string(i), EncoderLayer(gemm));
    }
    layers_ = register_module("layers", layers);
    ln_ = register_module("ln", LayerNorm(kWidth, kEpsilon));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    return ln_->forward(layers_->forward(input + pos_embedding_));
  }

 private:
  torch::Tensor pos_embedding_;
  torch::nn::Sequential layers_{nullptr};
  LayerNorm ln_{nullptr};
};
TORCH_MODULE(Encoder);

class VitB16 : public Model {
 public:
  VitB16(const SampleShape& shape, GemmBackend gemm);
  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  torch::nn::Conv2d conv_proj_{nullptr};
  torch::Tensor class_token_;
  Encoder encoder_{nullptr};
  torch::nn::Sequential heads_{nullptr};
};

VitB16::VitB16(const SampleShape& shape, GemmBackend gemm) {
  require_fit(shape.height % kPatch == 0 && shape.width % kPatch == 0,
              "model vit_b_16 needs images whose sides are multiples of 16 pixels; try "
              "--image-size 224");
  conv_proj_ = register_module(
      "conv_proj",
      torch::nn::Conv2d(torch::nn::Conv2dOptions(shape.channels, kWidth, kPatch).stride(kPatch)));
  class_token_ = register_parameter("class_token", torch::zeros({1, 1, kWidth}));
  const int64_t tokens = (shape.height / kPatch) * (shape.width / kPatch) + 1;
  encoder_ = register_module("encoder", Encoder(tokens, gemm));
  const Linear head(kWidth, shape.classes, gemm);
  torch::nn::Sequential heads;
  heads->push_back("head", head);
  heads_ = register_module("heads", heads);
  const int64_t fan_in = shape.channels * kPatch * kPatch;
  trunc_normal_(conv_proj_->weight, std::sqrt(1.0 / static_cast<double>(fan_in)));
  torch::nn::init::zeros_(conv_proj_->bias);
  torch::nn::init::zeros_(head->weight);
  torch::nn::init::zeros_(head->bias);
}

torch::Tensor VitB16::forward(const torch::Tensor& input) {
  const int64_t batch = input.size(0);
  torch::Tensor x = conv_proj_->forward(input);
  x = x.reshape({batch, kWidth, x.size(2) * x.size(3)}).permute({0, 2, 1});
  x = torch::cat({class_token_.expand({batch, -1, -1}), x}, 1);
  x = encoder_->forward(x);
  return heads_->forward(x.select(1, 0));
}

const ModelRegistration kRegistration("vit_b_16", construct<VitB16>);

}  // namespace
}  // namespace precbench::train::vit_b_16
