#include "train/predict/largest_batch.h"

#include <cstdlib>

#include "support.h"
#include "train/predict/predict_job.h"

namespace precbench::train::largest_batch_test {
namespace {

using Peak = std::optional<int64_t>;

// Memory of `fixed` and `each` for a sample; how often it was asked for in `calls`.
auto line(int64_t fixed, int64_t each, int64_t limit, int* calls = nullptr) {
  return [=](int64_t batch) -> Peak {
    if (calls != nullptr) ++*calls;
    const int64_t bytes = fixed + each * batch;
    return bytes <= limit ? Peak(bytes) : std::nullopt;
  };
}

TEST(LargestBatch, FitsAndTheNextDoesNotFromAnyStart) {
  for (const int64_t limit : {1, 2, 63, 64, 65, 1000}) {
    for (const int64_t start : {1, 64, 4096}) {
      EXPECT_EQ(largest_batch(start, limit * 10 + 5, line(0, 10, limit * 10)), limit);
    }
  }
}

TEST(LargestBatch, IsFoundInFewStepsWhereMemoryIsALine) {
  int calls = 0;
  EXPECT_EQ(largest_batch(64, 1000000, line(1000, 7, 1000000, &calls)), 142714);
  EXPECT_LE(calls, 5);  // the start, a proportion, a line, and the next
}

// Large blocks are rounded up; a line misleads a little.
TEST(LargestBatch, IsFoundWhereMemoryGrowsInStairs) {
  const auto stairs = [](int64_t batch) -> Peak {
    const int64_t bytes = 50000 + (batch * 130 + 2047) / 2048 * 2048;
    return bytes <= 1000000 ? Peak(bytes) : std::nullopt;
  };
  const int64_t found = largest_batch(16, 1000000, stairs);
  EXPECT_TRUE(stairs(found));
  EXPECT_FALSE(stairs(found + 1));
}

TEST(LargestBatch, IsNoneWhereNotOneSampleFits) {
  EXPECT_EQ(largest_batch(64, 100, line(200, 1, 100)), 0);
}

TEST(LargestBatch, EndsWhereEverythingFits) {
  const auto nothing = [](int64_t) -> Peak { return 1; };
  EXPECT_EQ(largest_batch(64, 100, nothing), kLargestBatchTried);
}

TEST(GpuCards, AreFoundByTheirIdOrByCapabilityAndMemory) {
  EXPECT_EQ(find_gpu_card("t4")->compute_capability, 75);
  EXPECT_EQ(find_gpu_card("sm_75:15655829504")->memory_bytes(), 15655829504);
  EXPECT_EQ(find_gpu_card("sm_75:15655829504")->context_bytes(), 0);
  for (const char* id : {"", "t5", "sm_75", "sm_75:", "sm_7:15655829504"}) {
    EXPECT_EQ(find_gpu_card(id), nullptr) << id;
  }
}

// By memory that is left for tensors.
constexpr const char* kEightCards[] = {"t4",      "v100",    "p100", "l4",
                                       "rtx4090", "rtx3090", "a100", "h100"};

std::vector<std::string_view> names_of_models() {
  std::vector<std::string_view> names;
  for (const ModelTraits& model : kModels) {
    if (model.name != kScriptModel && model.name != kPython) names.push_back(model.name);
  }
  return names;
}

constexpr std::string_view kEightModes[] = {"32-true", "16-mixed",          "bf16-mixed",
                                            "16-true", "bf16-true",         "64-true",
                                            "tf32",    "transformer-engine"};

// All eight take a minute: that is PRECBENCH_ALL_CARDS=1. Else a small one, a middle one and the
// one that has every mode, so that each card meets each model and each mode in some pair.
std::vector<const char*> cards_for(std::string_view model, std::string_view mode) {
  if (std::getenv("PRECBENCH_ALL_CARDS") != nullptr) {
    return {std::begin(kEightCards), std::end(kEightCards)};
  }
  const auto models = names_of_models();
  const auto turn =
      static_cast<size_t>(std::find(models.begin(), models.end(), model) - models.begin()) +
      static_cast<size_t>(std::find(std::begin(kEightModes), std::end(kEightModes), mode) -
                          std::begin(kEightModes));
  return {kEightCards[turn % 4], kEightCards[4 + turn % 3], kEightCards[7]};
}

TrainJob job_of_model(const std::string& model) {
  TrainJob job;
  job.model = model;
  job.dataset.name = "synthetic";
  job.dataset.synthetic_shape = {3, 32, 32};
  job.optimizer.impl = "foreach";
  job.batch_size = 4096;
  if (model == "gpt") job.dataset.context = 64;
  if (model == "mlp") job.dataset.image_size = 224;  // of small images millions would fit
  return job;
}

// For each card the batch that is found is trained with again, and the next.
class LargestBatchOf
    : public testing::TestWithParam<std::tuple<std::string_view, std::string_view>> {};

TEST_P(LargestBatchOf, FitsAndTheNextDoesNotAndGrowsWithTheCard) {
  const auto& [model, mode] = GetParam();
  TrainJob job = job_of_model(std::string(model));
  const DataSet example = example_of(job);
  int64_t smaller = 0;
  for (const char* id : cards_for(model, mode)) {
    const auto fresh_card = [id] {
      return std::make_unique<simulated::SimulatedDevice>(*find_gpu_card(id));
    };
    const auto row = [&](int64_t batch_size, bool find_max_batch) {
      job.batch_size = batch_size;
      return predict_mode(job, std::string(mode), example, find_max_batch, fresh_card);
    };
    const json searched = row(smaller > 0 ? smaller : 4096, true);
    if (searched.at("status") == "unsupported") continue;
    const auto largest = searched.at("max_batch_size").get<int64_t>();
    ASSERT_LT(largest, kLargestBatchTried) << id;
    EXPECT_EQ(row(largest, false).at("status"), "ok") << id << " " << largest;
    EXPECT_EQ(row(largest + 1, false).at("status"), "oom") << id << " " << largest;
    EXPECT_GE(largest, smaller) << id;
    smaller = largest;
  }
  EXPECT_GT(smaller, 0);
}

INSTANTIATE_TEST_SUITE_P(Every, LargestBatchOf,
                         testing::Combine(testing::ValuesIn(names_of_models()),
                                          testing::ValuesIn(kEightModes)),
                         [](const auto& info) {
                           std::string name(std::get<0>(info.param));
                           name.append("_").append(std::get<1>(info.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace precbench::train::largest_batch_test
