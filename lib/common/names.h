// The names a user may write for a model, a data set or an optimizer, with one line each for
// `precbench list` and the defaults that belong to them. The worker's factories
// (lib/train/models/registry.cpp, lib/train/loop/) build what is named here.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace precbench {

struct ModelTraits {
  std::string_view name;
  std::string_view summary;
  bool is_convolutional;  // profile `tuned` then uses channels_last
};

inline constexpr std::array<ModelTraits, 2> kModels = {{
    {"cnn", "two 3x3 convolutions (32, 64), two linear layers; 421,642 parameters at 28 px", true},
    {"mlp", "784-512-512-10 with ReLU; 669,706 parameters at 28 px", false},
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
const DatasetTraits* find_dataset(std::string_view name);
const OptimizerTraits* find_optimizer(std::string_view name);

}  // namespace precbench
