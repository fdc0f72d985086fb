// A GPT over bytes with the layout, names and initialisation of nanoGPT
// (github.com/karpathy/nanoGPT, model.py); the output layer has weights of its own, as in minGPT.
#include <cmath>

#include "train/models/layers.h"
#include "train/models/model.h"
#include "train/models/model_options.h"
#include "train/models/registry.h"

namespace precbench::train::gpt {
namespace {

constexpr int64_t kMlpRatio = 4;
constexpr double kInitialStd = 0.02;

class CausalSelfAttentionImpl : public torch::nn::Module {
 public:
  CausalSelfAttentionImpl(int64_t width, int64_t heads, GemmBackend gemm) : heads_(heads) {
    c_attn_ = register_module("c_attn", Linear(width, 3 * width, gemm));
    c_proj_ = register_module("c_proj", Linear(width, width, gemm));
  }

  // [batch, tokens, width] -> the same; a token sees those before it and itself.
  torch::Tensor forward(const torch::Tensor& input) {
    const int64_t batch = input.size(0), tokens = input.size(1), width = input.size(2);
    const auto parts = c_attn_->forward(input).split(width, 2);
    const auto heads_of = [&](const torch::Tensor& part) {
      return part.view({batch, tokens, heads_, width / heads_}).transpose(1, 2);
    };
    const torch::Tensor key = heads_of(parts[1]), query = heads_of(parts[0]),
                        value = heads_of(parts[2]);
    const torch::Tensor y = at::scaled_dot_product_attention(query, key, value, /*attn_mask=*/{},
                                                             /*dropout_p=*/0.0, /*is_causal=*/true);
    return c_proj_->forward(y.transpose(1, 2).contiguous().view({batch, tokens, width}));
  }

 private:
  int64_t heads_;
  Linear c_attn_{nullptr}, c_proj_{nullptr};
};
TORCH_MODULE(CausalSelfAttention);

class MlpImpl : public torch::nn::Module {
 public:
  MlpImpl(int64_t width, GemmBackend gemm) {
    c_fc_ = register_module("c_fc", Linear(width, kMlpRatio * width, gemm));
    c_proj_ = register_module("c_proj", Linear(kMlpRatio * width, width, gemm));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    return c_proj_->forward(torch::gelu(c_fc_->forward(input)));
  }

 private:
  Linear c_fc_{nullptr}, c_proj_{nullptr};
};
TORCH_MODULE(Mlp);

class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(int64_t width, int64_t heads, GemmBackend gemm) {
    ln_1_ = register_module("ln_1", LayerNorm(width));
    attn_ = register_module("attn", CausalSelfAttention(width, heads, gemm));
    ln_2_ = register_module("ln_2", LayerNorm(width));
    mlp_ = register_module("mlp", Mlp(width, gemm));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor x = input + attn_->forward(ln_1_->forward(input));
    return x + mlp_->forward(ln_2_->forward(x));
  }

 private:
  LayerNorm ln_1_{nullptr}, ln_2_{nullptr};
  CausalSelfAttention attn_{nullptr};
  Mlp mlp_{nullptr};
};
TORCH_MODULE(Block);

class TransformerImpl : public torch::nn::Module {
 public:
  TransformerImpl(int64_t tokens, int64_t context, int64_t width, int64_t layers, int64_t heads,
                  GemmBackend gemm) {
    wte_ = register_module("wte", torch::nn::Embedding(tokens, width));
    wpe_ = register_module("wpe", torch::nn::Embedding(context, width));
    torch::nn::Sequential blocks;
    for (int64_t i = 0; i < layers; ++i) blocks->push_back(Block(width, heads, gemm));
    h_ = register_module("h", blocks);
    ln_f_ = register_module("ln_f", LayerNorm(width));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const auto options = torch::TensorOptions().dtype(torch::kLong).device(input.device());
    const torch::Tensor positions = torch::arange(input.size(1), options);
    const torch::Tensor x = wte_->forward(input) + wpe_->forward(positions);
    return ln_f_->forward(h_->forward(x));
  }

 private:
  torch::nn::Embedding wte_{nullptr}, wpe_{nullptr};
  torch::nn::Sequential h_{nullptr};
  LayerNorm ln_f_{nullptr};
};
TORCH_MODULE(Transformer);

class Gpt : public Model {
 public:
  Gpt(const SampleShape& shape, const json& options, GemmBackend gemm);
  torch::Tensor forward(const torch::Tensor& input) override {
    return lm_head_->forward(transformer_->forward(input));
  }

 private:
  void draw_weights(int64_t layers);

  Transformer transformer_{nullptr};
  Linear lm_head_{nullptr};
};

Gpt::Gpt(const SampleShape& shape, const json& options, GemmBackend gemm) {
  const int64_t layers = size_option(options, "layers", 4);
  const int64_t heads = size_option(options, "heads", 4);
  const int64_t width = size_option(options, "width", 128);
  const int64_t context = size_option(options, "context", shape.width);
  require_fit(width % heads == 0, "model gpt needs a width that its heads divide");
  require_fit(context >= shape.width, "model gpt's context is shorter than the data's sequences");
  transformer_ = register_module("transformer",
                                 Transformer(shape.classes, context, width, layers, heads, gemm));
  lm_head_ = register_module("lm_head", Linear(width, shape.classes, gemm, Bias::no));
  draw_weights(layers);
}

// GPT._init_weights over all modules, then the projections into the residual stream again, with a
// standard deviation that shrinks with their number (GPT-2, section 2.3).
void Gpt::draw_weights(int64_t layers) {
  for (const auto& module : modules(/*include_self=*/false)) {
    if (const auto* linear_layer = module->as<LinearImpl>()) {
      torch::nn::init::normal_(linear_layer->weight, 0.0, kInitialStd);
      if (linear_layer->bias.defined()) torch::nn::init::zeros_(linear_layer->bias);
    } else if (const auto* embedding = module->as<torch::nn::EmbeddingImpl>()) {
      torch::nn::init::normal_(embedding->weight, 0.0, kInitialStd);
    }
  }
  const double residual_std = kInitialStd / std::sqrt(2.0 * static_cast<double>(layers));
  constexpr std::string_view kResidual = "c_proj.weight";
  for (const auto& item : named_parameters()) {
    const std::string& name = item.key();
    if (name.size() > kResidual.size() &&
        name.compare(name.size() - kResidual.size(), kResidual.size(), kResidual) == 0) {
      torch::nn::init::normal_(item.value(), 0.0, residual_std);
    }
  }
}

const ModelRegistration kRegistration("gpt", construct_with_options<Gpt>);

}  // namespace
}  // namespace precbench::train::gpt
