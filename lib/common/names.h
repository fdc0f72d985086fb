// The names a user may write for a model, a data set or an optimizer, with one line each for
// `precbench list` and the defaults that belong to them. The worker's factories
// (lib/train/models/registry.cpp, lib/train/loop/) build what is named here.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace precbench {

// What a model reads, and what a data set holds.
enum class SampleKind { images, text };

struct ModelTraits {
  std::string_view name;
  std::string_view summary;
  bool is_convolutional;     // profile `tuned` then uses channels_last
  std::string_view options;  // sizes that --model-options sets, separated by spaces
  SampleKind samples = SampleKind::images;
};

inline constexpr std::array<ModelTraits, 7> kModels = {{
    {"cnn", "two 3x3 convolutions (32, 64), two linear layers; 421,642 parameters at 28 px", true,
     ""},
    {"mlp", "784-512-512-10 with ReLU; 669,706 parameters at 28 px", false, ""},
    {"resnet18",
     "torchvision's; up to 64 px with a 3x3 stem without pooling; 11,689,512 parameters with "
     "1000 classes",
     true, "stem"},
    {"resnet50", "torchvision's, stem as resnet18; 25,557,032 parameters with 1000 classes", true,
     "stem"},
    {"vit_tiny",
     "timm's: dim 192, depth 12, 3 heads, patch 16 (4 under 112 px); 5,717,416 parameters with "
     "1000 classes at 224 px",
     false, "dim depth heads patch"},
    {"vit_b_16", "torchvision's; 86,567,656 parameters with 1000 classes at 224 px", false, ""},
    {"gpt", "nanoGPT's over bytes: 4 layers, 4 heads, width 128, context 64", false,
     "layers heads width context", SampleKind::text},
}};

struct DatasetTraits {
  std::string_view name;
  std::string_view summary;
  std::string_view how_to_get;  // what to do when it is not found
  double mean, std;             // of pixels scaled to [0, 1]
  int64_t classes;
};

inline constexpr std::array<DatasetTraits, 3> kDatasets = {{
    {"fashion-mnist", "60,000 + 10,000 grey 28 px images, 10 classes (IDX)",
     "run scripts/precbench, or install the Debian package dataset-fashion-mnist, or pass "
     "--data-dir",
     0.2860, 0.3530, 10},
    {"mnist", "60,000 + 10,000 grey 28 px digits, 10 classes (IDX)",
     "put train-images-idx3-ubyte[.gz] and its three companions into a folder and pass --data-dir",
     0.1307, 0.3081, 10},
    {"synthetic", "generated from the seed: learnable classes of any shape", "needs nothing", 0.5,
     0.25, 10},
}};

struct OptimizerTraits {
  std::string_view name;
  std::string_view summary;
  double lr, momentum, weight_decay;  // defaults
};

// AdamW's and Adam's defaults are PyTorch's; SGD's lr and momentum are the default workload's.
inline constexpr std::array<OptimizerTraits, 3> kOptimizers = {{
    {"sgd", "stochastic gradient descent with momentum", 0.05, 0.9, 0.0},
    {"adam", "Adam", 1e-3, 0.0, 0.0},
    {"adamw", "Adam with decoupled weight decay", 1e-3, 0.0, 0.01},
}};

const ModelTraits* find_model(std::string_view name);
bool has_option(const ModelTraits& model, std::string_view option);
const DatasetTraits* find_dataset(std::string_view name);
const OptimizerTraits* find_optimizer(std::string_view name);

}  // namespace precbench
