#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/plan/protocol.h"
#include "common/errors.h"
#include "plan_resolving.h"

namespace precbench::testing::plan_workload_test {
namespace {

using ::testing::HasSubstr;

TEST(Workload, OptionsOfTheModelAreSizes) {
  const Plan plan = planned({{"model", {"vit_tiny"}}, {"model-options", {"depth=6,patch=4"}}});
  EXPECT_EQ(plan.job.model_options, (json{{"depth", 6}, {"patch", 4}}));
  const Plan stem = planned({{"model", {"resnet18"}}, {"model-options", {"stem=imagenet"}}});
  EXPECT_EQ(stem.job.model_options, (json{{"stem", "imagenet"}}));
  const auto refused = [](const char* model, const char* options) {
    return error_of([&] { planned({{"model", {model}}, {"model-options", {options}}}); });
  };
  EXPECT_THAT(refused("vit_tiny", "layers=6"), HasSubstr("allowed: dim depth heads patch"));
  EXPECT_THAT(refused("cnn", "depth=6"), HasSubstr("allowed: none"));
  EXPECT_THAT(refused("vit_tiny", "depth"), HasSubstr("is not name=value"));
  EXPECT_THAT(refused("vit_tiny", "depth=0"), HasSubstr("is not a whole number above 0"));
}

TEST(Workload, GptReadsTextAndTheOthersDoNot) {
  const Plan plan = planned({{"model", {"gpt"}}});
  EXPECT_EQ(plan.job.dataset.name, "text");
  EXPECT_EQ(plan.job.dataset.context, 64);
  EXPECT_EQ(planned({{"model", {"gpt"}}, {"model-options", {"context=16"}}}).job.dataset.context,
            16);
  EXPECT_EQ(planned({{"model", {"cnn"}}}).job.dataset.context, 0);
  EXPECT_EQ(planned({{"model", {"gpt"}}, {"dataset", {"synthetic"}}}).job.dataset.context, 64);
  const auto refused = [](const GivenFlags& flags) { return error_of([&] { planned(flags); }); };
  EXPECT_THAT(refused({{"model", {"gpt"}}, {"dataset", {"mnist"}}}), HasSubstr("reads text"));
  EXPECT_THAT(refused({{"model", {"cnn"}}, {"dataset", {"text"}}}), HasSubstr("reads images"));
  EXPECT_THAT(refused({{"model", {"gpt"}}, {"image-size", {"32"}}}), HasSubstr("for images"));
}

TEST(Workload, FilesAreTensorsOrText) {
  const Plan tensors = planned({{"dataset", {"some/mine.pt"}}});
  EXPECT_EQ(tensors.job.dataset.name, "bundle");
  EXPECT_EQ(tensors.job.dataset.dir, "some/mine.pt");
  EXPECT_THAT(tensors.title, HasSubstr("cnn, mine.pt, batch"));
  const Plan text = planned({{"model", {"gpt"}}, {"dataset", {"./shakespeare"}}});
  EXPECT_EQ(text.job.dataset.name, "text");
  EXPECT_THAT(error_of([] {
                planned({{"dataset", {"mine.pt"}}, {"data-dir", {"folder"}}});
              }),
              HasSubstr("names a file already"));
  EXPECT_THAT(error_of([] {
                planned({{"dataset", {"imagenet"}}});
              }),
              HasSubstr("or the path of a file"));
}

TEST(Workload, AModuleOfOnesOwnIsAFile) {
  const Plan plan = planned({{"model", {"mine.pt"}}, {"dataset", {"cifar10"}}});
  EXPECT_EQ(plan.job.model, "torchscript");
  EXPECT_EQ(plan.job.model_file, "mine.pt");
  EXPECT_THAT(plan.title, HasSubstr("mine.pt, cifar10"));
  EXPECT_THAT(error_of([] {
                planned({{"model", {"torchscript"}}});
              }),
              HasSubstr("--model FILE.pt"));
}

// The default protocol is that of a model without options: results from before them still compare.
TEST(Workload, SizesAndContextMakeAnotherProtocol) {
  const auto protocol = [](const GivenFlags& flags) {
    return protocol_json(planned(flags), std::string(64, 'a'), false);
  };
  EXPECT_FALSE(protocol({}).contains("model_options"));
  EXPECT_FALSE(protocol({}).contains("context"));
  const json small = protocol({{"model", {"gpt"}}, {"model-options", {"layers=1"}}});
  const json large = protocol({{"model", {"gpt"}}, {"model-options", {"layers=2"}}});
  EXPECT_NE(small["hash"], large["hash"]);
  EXPECT_EQ(small["context"], 64);
}

TEST(Workload, SizesOfABundleAreNotKnownYet) {
  const Plan plan = planned({{"dataset", {"mine.pt"}}});
  const json protocol = protocol_json(plan, std::string(64, 'a'), false, data::DatasetSummary{});
  EXPECT_TRUE(protocol["test_samples"].is_null());
  EXPECT_TRUE(protocol["unknown"].contains("test_samples"));
}

}  // namespace
}  // namespace precbench::testing::plan_workload_test
