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

// What --model FILE trains.
inline constexpr std::string_view kScriptModel = "torchscript";

// What --model file.py:name and --dataset file.py:name are: functions that the fabric engine calls.
// The first may also be a network of a library, as timm:resnet50d.
inline constexpr std::string_view kPython = "python";

// Bytes per sequence of a text where nothing else is asked for. With 4 layers, 4 heads and width
// 128 it is what nanoGPT's README advises for machines without a GPU.
inline constexpr int64_t kDefaultContext = 64;

struct ModelTraits {
  std::string_view name;
  std::string_view summary;
  bool is_convolutional;     // profile `tuned` then uses channels_last
  std::string_view options;  // sizes that --model-options sets, separated by spaces
  bool has_float8_layers;    // Linear layers beside the head, which modes with FP8 replace
  bool has_attention;        // profile `tuned` then measures how to compute it
  SampleKind samples = SampleKind::images;
};

inline constexpr std::array<ModelTraits, 9> kModels = {{
    {"cnn", "two 3x3 convolutions (32, 64), two linear layers; 421,642 parameters at 28 px", true,
     "", true, false},
    {"mlp", "784-512-512-10 with ReLU; 669,706 parameters at 28 px", false, "", true, false},
    {"resnet18",
     "torchvision's; up to 64 px with a 3x3 stem without pooling; 11,689,512 parameters with "
     "1000 classes",
     true, "stem", false, false},
    {"resnet50", "torchvision's, stem as resnet18; 25,557,032 parameters with 1000 classes", true,
     "stem", false, false},
    {"vit_tiny",
     "timm's: dim 192, depth 12, 3 heads, patch 16 (4 under 112 px); 5,717,416 parameters with "
     "1000 classes at 224 px",
     false, "dim depth heads patch", true, true},
    {"vit_b_16", "torchvision's; 86,567,656 parameters with 1000 classes at 224 px", false, "",
     true, true},
    {"gpt", "nanoGPT's over bytes: 4 layers, 4 heads, width 128, context 64", false,
     "layers heads width context", true, true, SampleKind::text},
    {kScriptModel, "a network of your own, saved by Python: --model FILE.pt (docs/workloads.md)",
     false, "", false, false},
    {kPython,
     "a function of your own that makes one: --model FILE.py:NAME; or timm:NAME, "
     "torchvision:NAME, hf:NAME (docs/engines.md)",
     false, "", false, false},
}};

struct DatasetTraits {
  std::string_view name;
  std::string_view summary;
  std::string_view how_to_get;  // what to do when it is not found
  // Of pixels scaled to [0, 1], red, green, blue; grey images have the first.
  std::array<double, 3> mean, std;
  int64_t classes;
  SampleKind samples = SampleKind::images;
  bool can_be_fetched = false;  // by `precbench get` (python/get.py has the places)
};

// `text`, `bundle` and `python` are what `--dataset FILE` names.
inline constexpr std::array<DatasetTraits, 8> kDatasets = {{
    {"fashion-mnist",
     "60,000 + 10,000 grey 28 px images, 10 classes (IDX)",
     "precbench get fashion-mnist, or install the Debian package dataset-fashion-mnist, or pass "
     "--data-dir (scripts/precbench gets it by itself)",
     {0.2860},
     {0.3530},
     10,
     SampleKind::images,
     true},
    {"mnist",
     "60,000 + 10,000 grey 28 px digits, 10 classes (IDX)",
     "put train-images-idx3-ubyte[.gz] and its three companions into a folder and pass --data-dir",
     {0.1307},
     {0.3081},
     10},
    {"cifar10",
     "50,000 + 10,000 colour 32 px images, 10 classes (binary version)",
     "precbench get cifar10, or pass cifar-10-binary.tar.gz of www.cs.toronto.edu/~kriz/cifar.html "
     "or the folder in it as --data-dir",
     {0.4914, 0.4822, 0.4465},
     {0.2470, 0.2435, 0.2616},
     10,
     SampleKind::images,
     true},
    {"cifar100",
     "50,000 + 10,000 colour 32 px images, 100 classes (binary version)",
     "precbench get cifar100, or pass cifar-100-binary.tar.gz of "
     "www.cs.toronto.edu/~kriz/cifar.html "
     "or the folder in it as --data-dir",
     {0.5071, 0.4865, 0.4409},
     {0.2673, 0.2564, 0.2762},
     100,
     SampleKind::images,
     true},
    {"text",
     "any text file, plain or .gz, for gpt: its bytes are the tokens; --dataset FILE",
     "pass --dataset FILE, or put input.txt into a folder and pass --data-dir",
     {0.0},
     {1.0},
     256,
     SampleKind::text},
    {"bundle",
     "tensors saved by Python: torch.save({train_x, train_y, test_x, test_y}, FILE.pt); "
     "--dataset FILE.pt",
     "pass --dataset FILE.pt",
     {0.0, 0.0, 0.0},
     {1.0, 1.0, 1.0},
     0},
    {kPython,
     "what a function of your own returns: --dataset FILE.py:NAME (docs/engines.md)",
     "pass --dataset FILE.py:NAME",
     {0.0, 0.0, 0.0},
     {1.0, 1.0, 1.0},
     0},
    {"synthetic",
     "generated from the seed: learnable classes of any shape, or text for gpt",
     "needs nothing",
     {0.5, 0.5, 0.5},
     {0.25, 0.25, 0.25},
     10},
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
