#include "train/loop/data_set.h"

#include <gmock/gmock.h>

#include <fstream>

#include "../../temporary.h"
#include "../support.h"
#include "common/errors.h"
#include "train/loop/loader.h"
#include "train/loop/weights.h"

namespace precbench::train::data_set_test {
namespace {

using testing::HasSubstr;

CpuDevice device;

// A dictionary as Python's torch.save writes one.
class Bundle : public testing::Test {
 protected:
  DatasetJob job() {
    torch::nn::Module module;
    for (const auto& [name, tensor] : tensors) module.register_buffer(name, tensor);
    save_weights(module, path);
    DatasetJob job;
    job.name = "bundle";
    job.dir = path;
    return job;
  }

  std::string error() {
    try {
      load_data_set(job(), 42);
    } catch (const FileError& failure) {
      return failure.what();
    }
    return "none";
  }

  const std::string path = temporary_path("bundle.pt");
  std::map<std::string, torch::Tensor> tensors = {
      {"train_x", torch::full({6, 3, 4, 5}, 255, torch::kByte)},
      {"train_y", torch::arange(6)},
      {"test_x", torch::zeros({2, 3, 4, 5}, torch::kByte)},
      {"test_y", torch::arange(2)}};
};

TEST_F(Bundle, OfBytesIsScaledToOne) {
  const DataSet data = load_data_set(job(), 42);
  EXPECT_EQ(data.shape().channels, 3);
  EXPECT_EQ(data.shape().width, 5);
  EXPECT_EQ(data.classes, 6);
  Loader loader(device, data, data.train, SampleOrder::as_stored, 4, at::MemoryFormat::Contiguous);
  loader.start_pass();
  EXPECT_EQ(loader.next().input.min().item<float>(), 1.0F);
}

TEST_F(Bundle, OfFloatsIsFedAsItIs) {
  tensors["train_x"] = torch::full({6, 9}, -3.5);
  tensors["test_x"] = torch::full({2, 9}, 2.0);
  const DataSet data = load_data_set(job(), 42);
  Loader loader(device, data, data.train, SampleOrder::as_stored, 4,
                at::MemoryFormat::ChannelsLast);
  loader.start_pass();
  const Batch batch = loader.next();
  EXPECT_EQ(batch.input.sizes(), (std::vector<int64_t>{4, 9}));
  EXPECT_EQ(batch.input.max().item<float>(), -3.5F);
  TrainJob job;
  job.model = "mlp";
  EXPECT_NO_THROW(check_model_reads(job, data));
  job.model = "cnn";
  EXPECT_THROW(check_model_reads(job, data), std::invalid_argument);
}

TEST_F(Bundle, LimitsCountSamples) {
  DatasetJob limited = job();
  limited.limit_train = 4;
  EXPECT_EQ(load_data_set(limited, 42).train.size(), 4);
  limited.limit_train = 7;
  EXPECT_THROW(load_data_set(limited, 42), FileError);
}

TEST_F(Bundle, SaysWhatDoesNotFit) {
  const auto whole = tensors;
  const auto with = [&](const char* name, const torch::Tensor& tensor) {
    tensors = whole;
    tensors[name] = tensor;
    return error();
  };
  EXPECT_THAT(with("train_y", torch::arange(5)), HasSubstr("6 samples and 5 targets in train_y"));
  EXPECT_THAT(with("train_y", torch::rand({6})), HasSubstr("no whole numbers"));
  EXPECT_THAT(with("train_y", torch::arange(6) - 1), HasSubstr("negative class in train_y"));
  EXPECT_THAT(with("test_x", torch::zeros({2, 3, 4, 6}, torch::kByte)), HasSubstr("another shape"));
  tensors = whole;
  tensors.erase("test_y");
  EXPECT_THAT(error(), HasSubstr("lacks test_y"));
}

class Text : public testing::Test {
 protected:
  Text() {
    std::ofstream file(path, std::ios::binary);
    for (int i = 0; i < 100; ++i) file.put(static_cast<char>(i));
    job.name = "text";
    job.dir = path;
    job.context = 4;
  }
  const std::string path = temporary_path("text.txt");
  DatasetJob job;
};

// 90 bytes train: 22 sequences of 4 and the byte after the last; 10 test: 2.
TEST_F(Text, IsCutIntoSequencesWhoseTargetsAreTheNextBytes) {
  const DataSet data = load_data_set(job, 42);
  EXPECT_EQ(data.train.size(), 22);
  EXPECT_EQ(data.test.size(), 2);
  EXPECT_EQ(data.classes, 256);
  EXPECT_EQ(data.shape().width, 4);
  Loader loader(device, data, data.train, SampleOrder::as_stored, 2, at::MemoryFormat::Contiguous);
  loader.start_pass();
  const Batch batch = loader.next();
  EXPECT_TRUE(torch::equal(batch.input, torch::arange(8).view({2, 4})));
  EXPECT_TRUE(torch::equal(batch.target, torch::arange(1, 9).view({2, 4})));
}

TEST_F(Text, GptLearnsItAndTellsAccuracyPerToken) {
  TrainJob training = small_job("32-true");
  training.model = "gpt";
  training.model_options = {{"layers", 1}, {"heads", 1}, {"width", 32}};
  training.dataset.name = "synthetic";
  training.dataset.context = 16;
  training.dataset.synthetic_train = 512;
  training.steps = 96;
  training.batch_size = 32;
  training.optimizer.name = "adamw";
  training.optimizer.lr = 0.01;
  const TrainResult result = run(training);
  ASSERT_TRUE(result.run.test_accuracy);
  // A quarter of the tokens is random; by chance 1 of 256 would be right.
  EXPECT_GT(*result.run.test_accuracy, 0.1);
  EXPECT_LT(*result.run.test_accuracy, 0.76);
  ASSERT_TRUE(result.run.test_perplexity);
  EXPECT_DOUBLE_EQ(*result.run.test_perplexity, std::exp(*result.run.test_loss));
  EXPECT_EQ(result.train_samples, 512);
}

TEST(DataSet, AModelThatReadsTheOtherKindIsRefused) {
  TrainJob job = small_job("32-true");
  job.model = "gpt";
  EXPECT_THROW(run(job), std::invalid_argument);
  job.model = "cnn";
  job.dataset.context = 16;
  EXPECT_THROW(run(job), std::invalid_argument);
}

// (255/255 - mean) / std of each channel.
TEST(DataSet, ChannelsAreNormalisedOneByOne) {
  DataSet data;
  data.train = {torch::full({1, 3, 2, 2}, 255, torch::kByte), torch::zeros({1}, torch::kLong)};
  data.test = data.train;
  data.mean = {0.5, 0.25, 0.0};
  data.std = {0.25, 0.75, 1.0};
  data.classes = 1;
  Loader loader(device, data, data.train, SampleOrder::as_stored, 1, at::MemoryFormat::Contiguous);
  loader.start_pass();
  const torch::Tensor pixel = loader.next().input.select(3, 0).select(2, 0)[0];
  EXPECT_TRUE(torch::equal(pixel, torch::tensor({2.0F, 1.0F, 1.0F})));
}

}  // namespace
}  // namespace precbench::train::data_set_test
