#include "train/data/data_set.h"

#include <gmock/gmock.h>

#include <fstream>

#include "../../temporary.h"
#include "../support.h"
#include "common/errors.h"
#include "train/data/loader.h"
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
  EXPECT_THAT(with("train_y", torch::rand({6})), HasSubstr("save class numbers: y.long()"));
  EXPECT_THAT(with("train_y", torch::rand({6, 3})), HasSubstr("y.argmax(1)"));
  EXPECT_THAT(with("train_y", torch::eye(6, torch::kLong)), HasSubstr("one-hot (int64 [6, 6])"));
  EXPECT_THAT(with("train_y", torch::arange(6).unsqueeze(1)), HasSubstr("y.squeeze(1)"));
  EXPECT_THAT(with("train_y", torch::full({6}, -100)), HasSubstr("negative class in train_y"));
  EXPECT_THAT(with("test_y", torch::empty({0}, torch::kLong)),
              HasSubstr("no samples in test_y (int64 [0])"));
  EXPECT_THAT(with("train_y", torch::arange(6) - 1), HasSubstr("negative class in train_y"));
  EXPECT_THAT(with("test_x", torch::zeros({2, 3, 4, 6}, torch::kByte)), HasSubstr("another shape"));
  tensors = whole;
  tensors.erase("test_y");
  EXPECT_THAT(error(), HasSubstr("lacks test_y"));
}

TEST_F(Bundle, OfWholeNumbersReachesTheModuleAsInt64) {
  constexpr int64_t kId = (int64_t{1} << 40) + 1;  // float32 has 24 bits, float64 53
  for (const auto type : {torch::kLong, torch::kInt, torch::kShort, torch::kChar}) {
    const int64_t id = type == torch::kLong ? kId : 101;
    tensors["train_x"] = torch::full({6, 2}, id, type);
    tensors["test_x"] = torch::full({2, 2}, -1, type);
    const DataSet data = load_data_set(job(), 42);
    Loader loader(device, data, data.train, SampleOrder::shuffled, 4, at::MemoryFormat::Contiguous);
    loader.start_pass();
    const Batch batch = loader.next();
    EXPECT_EQ(batch.input.scalar_type(), torch::kLong);
    EXPECT_EQ(batch.input.max().item<int64_t>(), id);
    EXPECT_FALSE(batch.input.is_alias_of(data.train.samples));
    for (const std::string& mode : kCpuModes) {
      EXPECT_EQ(precision_of(mode)->convert_input(batch.input).scalar_type(), torch::kLong) << mode;
    }
  }
}

TEST_F(Bundle, OfOneNumberForEachSampleIsForModulesOfUsers) {
  tensors["train_x"] = torch::arange(6);
  tensors["test_x"] = torch::arange(2);
  const DataSet data = load_data_set(job(), 42);
  EXPECT_EQ(data.shape().width, 1);
  TrainJob training;
  training.model = "mlp";
  EXPECT_THROW(check_model_reads(training, data), std::invalid_argument);
  training.model_file = "module.pt";
  EXPECT_NO_THROW(check_model_reads(training, data));
  training.dataset.augment = true;
  EXPECT_THROW(check_model_reads(training, data), std::invalid_argument);
}

TEST_F(Bundle, OfTruthValuesStaysSoAndOfFloat64KeepsItsDigits) {
  tensors["train_x"] = torch::ones({6, 2}, torch::kBool);
  tensors["test_x"] = torch::ones({2, 2}, torch::kBool);
  const auto first_batch = [this] {
    const DataSet data = load_data_set(job(), 42);
    Loader loader(device, data, data.train, SampleOrder::as_stored, 4,
                  at::MemoryFormat::Contiguous);
    loader.start_pass();
    return loader.next().input;
  };
  EXPECT_EQ(first_batch().scalar_type(), torch::kBool);
  tensors["train_x"] = torch::full({6, 2}, 0.1, torch::kDouble);
  tensors["test_x"] = torch::full({2, 2}, 0.1, torch::kDouble);
  EXPECT_EQ(precision_of("64-true")->convert_input(first_batch()).max().item<double>(), 0.1);
  EXPECT_EQ(precision_of("32-true")->convert_input(first_batch()).scalar_type(), torch::kFloat);
}

TEST_F(Bundle, OfBytesWithoutRowsNeedsAWord) {
  tensors["train_x"] = torch::zeros({6, 9}, torch::kByte);
  tensors["test_x"] = torch::zeros({2, 9}, torch::kByte);
  EXPECT_THAT(error(), testing::AllOf(HasSubstr("pixels or ids"), HasSubstr("x.long()"),
                                      HasSubstr("x.float() / 255")));
}

// Token classification: more tokens than classes.
TEST_F(Bundle, OfTokensMayHaveOtherClassesThanTokens) {
  tensors["train_x"] = torch::arange(12).view({6, 2});
  tensors["train_y"] = tensors["train_x"].remainder(3);
  tensors["test_x"] = torch::arange(4).view({2, 2});
  tensors["test_y"] = tensors["test_x"].remainder(3);
  const DataSet data = load_data_set(job(), 42);
  EXPECT_EQ(data.kind, SampleKind::text);
  EXPECT_EQ(data.classes, 12);
  EXPECT_EQ(data.target_classes(), 3);
  tensors["train_x"] = tensors["train_x"] - 1;
  EXPECT_THAT(error(), HasSubstr("negative token"));
}

TEST_F(Bundle, SaysWhereItsNumbersAreNone) {
  tensors["train_x"] = torch::zeros({6, 2});
  tensors["test_x"] = torch::zeros({2, 2});
  tensors["test_x"][1][0] = std::nan("");
  tensors["train_x"][3][1] = 1e5;
  const DataSet data = load_data_set(job(), 42);
  const auto in = [&](const char* mode) { return troubles_of(data, *find_mode(mode)); };
  EXPECT_EQ(in("32-true").train, "");
  EXPECT_EQ(in("32-true").test, "test_x holds NaN or infinite values in 1 of 2 samples");
  EXPECT_THAT(in("16-mixed").train, HasSubstr("up to 100000, which are infinite in float16"));
  EXPECT_EQ(in("bf16-mixed").train, "");
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
