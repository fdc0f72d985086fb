// The models that people train: sizes, names and shapes are those of the Python originals
// (tests/cases/state_dicts: the state dictionaries of torchvision 0.26 and timm 1.0.31).
#include <fstream>
#include <map>
#include <sstream>

#include "../../places.h"
#include "../support.h"
#include "train/models/registry.h"

namespace precbench::train::workload_models_test {
namespace {

constexpr SampleShape kImageNet = {3, 224, 224, 1000};
constexpr SampleShape kCifar = {3, 32, 32, 10};
constexpr SampleShape kText = {1, 1, 64, 256};

std::unique_ptr<Model> made(const std::string& name, const SampleShape& shape,
                            const json& options = json::object()) {
  return make_model(name, shape, options, GemmBackend::library_default);
}

int64_t parameter_count(const Model& model) {
  int64_t count = 0;
  for (const torch::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

using Shapes = std::map<std::string, std::vector<int64_t>>;

Shapes state_of(const Model& model) {
  Shapes shapes;
  for (const auto& item : model.named_parameters()) shapes[item.key()] = item.value().sizes().vec();
  for (const auto& item : model.named_buffers()) shapes[item.key()] = item.value().sizes().vec();
  return shapes;
}

Shapes state_in(const std::string& name) {
  std::ifstream file(source_dir() + "/tests/cases/state_dicts/" + name + ".txt");
  Shapes shapes;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    for (int64_t extent; words >> extent;) shapes[key].push_back(extent);
    shapes[key];
  }
  return shapes;
}

class PublishedModel : public testing::TestWithParam<const char*> {};

TEST_P(PublishedModel, HasTheStateDictionaryOfTheOriginal) {
  const Shapes expected = state_in(GetParam());
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(state_of(*made(GetParam(), kImageNet)), expected);
}

INSTANTIATE_TEST_SUITE_P(Models, PublishedModel,
                         testing::Values("resnet18", "resnet50", "vit_b_16", "vit_tiny"),
                         [](const auto& info) { return std::string(info.param); });

// torchvision's documentation of its weights (num_params).
TEST(WorkloadModels, HaveTheirPublishedSizes) {
  EXPECT_EQ(parameter_count(*made("resnet18", kImageNet)), 11689512);
  EXPECT_EQ(parameter_count(*made("resnet50", kImageNet)), 25557032);
  EXPECT_EQ(parameter_count(*made("vit_b_16", kImageNet)), 86567656);
}

// The stem is 3x3 instead of 7x7: 1,728 weights for 9,408; the head 5,130 for 513,000.
TEST(WorkloadModels, SmallImagesGetTheCifarStem) {
  EXPECT_EQ(parameter_count(*made("resnet18", kCifar)), 11689512 - 9408 + 1728 - 513000 + 5130);
  EXPECT_EQ(
      made("resnet18", kCifar, {{"stem", "imagenet"}})->named_parameters()["conv1.weight"].size(2),
      7);
  EXPECT_THROW(made("resnet18", kCifar, {{"stem", "cipher"}}), std::invalid_argument);
}

// Per layer 12 width^2 + 13 width; embeddings and head (256 + 64 + 256) width; ln_f 2 width.
TEST(WorkloadModels, GptIsAsLargeAsItsOptionsSay) {
  const auto size = [](int64_t layers, int64_t width) {
    return layers * (12 * width * width + 13 * width) + (256 + 64 + 256 + 2) * width;
  };
  EXPECT_EQ(parameter_count(*made("gpt", kText)), size(4, 128));
  EXPECT_EQ(parameter_count(*made("gpt", kText, {{"layers", 2}, {"width", 32}, {"heads", 2}})),
            size(2, 32));
}

TEST(WorkloadModels, VitTinyTakesDepthAndPatch) {
  const auto model = made("vit_tiny", kCifar, {{"depth", 6}, {"patch", 4}});
  const Shapes state = state_of(*model);
  EXPECT_TRUE(state.contains("blocks.5.norm1.weight"));
  EXPECT_FALSE(state.contains("blocks.6.norm1.weight"));
  EXPECT_EQ(state.at("pos_embed"), (std::vector<int64_t>{1, 65, 192}));
}

TEST(WorkloadModels, RefuseWhatDoesNotFit) {
  EXPECT_THROW(made("vit_b_16", {3, 28, 28, 10}), std::invalid_argument);
  EXPECT_THROW(made("vit_tiny", {3, 30, 30, 10}), std::invalid_argument);
  EXPECT_THROW(made("gpt", kText, {{"heads", 3}}), std::invalid_argument);
  EXPECT_THROW(made("gpt", kText, {{"context", 32}}), std::invalid_argument);
  EXPECT_THROW(made("gpt", kText, {{"layers", 0}}), std::invalid_argument);
  EXPECT_THROW(made("gpt", kText, {{"layers", "four"}}), std::invalid_argument);
  EXPECT_THROW(made("cnn", kCifar, {{"layers", 2}}), std::invalid_argument);
}

TEST(WorkloadModels, ATokenDoesNotSeeThoseAfterIt) {
  torch::manual_seed(1);
  torch::NoGradGuard no_grad;
  const auto model = made("gpt", kText);
  const torch::Tensor tokens = torch::arange(64).view({1, 64});
  torch::Tensor changed = tokens.clone();
  changed[0][40] = 200;
  const torch::Tensor difference =
      (model->forward(tokens) - model->forward(changed)).abs().amax(2)[0];  // per position
  EXPECT_EQ(difference.narrow(0, 0, 40).max().item<float>(), 0.0F);
  EXPECT_GT(difference.narrow(0, 40, 24).min().item<float>(), 0.0F);
}

TEST(WorkloadModels, TrainInEveryMode) {
  for (const std::string& mode : kCpuModes) {
    for (const char* name : {"resnet18", "vit_tiny"}) {
      TrainJob job = small_job(mode);
      job.model = name;
      job.dataset.synthetic_shape = {3, 8, 8};
      job.dataset.synthetic_train = 8;
      job.dataset.synthetic_test = 4;
      job.batch_size = 4;
      job.steps = 2;
      job.optimizer.lr = 0.01;
      if (job.model == "vit_tiny") job.model_options = {{"depth", 1}};
      const TrainResult result = run(job);
      // A scaler may skip both steps, on its way down from the scale that it begins with.
      const bool is_starting = result.run.scaler && result.run.scaler->skipped_steps == job.steps;
      EXPECT_EQ(result.run.status, is_starting ? Status::diverged : Status::ok)
          << mode << ' ' << name;
      EXPECT_EQ(result.run.loss_trace.size(), 2U) << mode << ' ' << name;
    }
  }
}

}  // namespace
}  // namespace precbench::train::workload_models_test
