#include "train/data/loader.h"

#include <set>

#include "../support.h"
#include "train/data/augmentation.h"
#include "train/loop/schedule.h"

namespace precbench::train::loader_test {
namespace {

// Samples that carry their own number as label.
DataSet numbered(int64_t train, int64_t test) {
  DataSet data;
  data.train = {torch::zeros({train, 1, 2, 2}, torch::kByte), torch::arange(train)};
  data.test = {torch::zeros({test, 1, 2, 2}, torch::kByte), torch::arange(test)};
  data.mean = {0.5};
  data.std = {0.25};
  data.classes = 10;
  return data;
}

CpuDevice device;

std::vector<int64_t> pass(Loader& loader) {
  std::vector<int64_t> order;
  loader.start_pass();
  while (!loader.done()) {
    const torch::Tensor target = loader.next().target;
    for (int64_t i = 0; i < target.size(0); ++i) order.push_back(target[i].item<int64_t>());
  }
  return order;
}

// torch.zeros(2, 1, 3, 4).to(memory_format=torch.channels_last).stride() in PyTorch 2.11; that of
// .contiguous(memory_format=torch.channels_last) is (12, 12, 4, 1).
TEST(InLayout, GivesOneChannelTheStridesThatPythonsToGives) {
  const torch::Tensor one_channel = torch::zeros({2, 1, 3, 4});
  EXPECT_EQ(in_layout(one_channel, at::MemoryFormat::ChannelsLast).strides(),
            (std::vector<int64_t>{12, 1, 4, 1}));
  EXPECT_EQ(in_layout(one_channel, at::MemoryFormat::Contiguous).strides(),
            (std::vector<int64_t>{12, 12, 4, 1}));
  const torch::Tensor text = torch::zeros({2, 5}, torch::kLong);
  EXPECT_TRUE(in_layout(text, at::MemoryFormat::ChannelsLast).is_alias_of(text));
}

// torch.manual_seed(42); DataLoader(range(10), batch_size=4, shuffle=True), then one over range(5)
// without shuffle, then the first again, then torch.rand(1); printed by PyTorch 2.11.
TEST(Loader, GivesPythonsOrderAndDrawsAsOften) {
  const DataSet data = numbered(10, 5);
  torch::manual_seed(42);
  Loader train(device, data, data.train, SampleOrder::shuffled, 4, at::MemoryFormat::Contiguous);
  Loader test(device, data, data.test, SampleOrder::as_stored, 4, at::MemoryFormat::Contiguous);
  EXPECT_EQ(pass(train), (std::vector<int64_t>{8, 0, 9, 1, 4, 5, 6, 3, 2, 7}));
  EXPECT_EQ(pass(test), (std::vector<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(pass(train), (std::vector<int64_t>{6, 9, 3, 2, 0, 8, 4, 7, 1, 5}));
  EXPECT_EQ(torch::rand({1}).item<float>(), 0x1.de83a4p-1F);
}

TEST(Loader, KeepsTheSmallerLastBatchAndNormalises) {
  DataSet data = numbered(5, 1);
  data.train.samples.fill_(255);
  Loader loader(device, data, data.train, SampleOrder::shuffled, 2, at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(loader.batches(), 3);
  loader.start_pass();
  std::vector<int64_t> sizes;
  Batch batch;
  while (!loader.done()) {
    batch = loader.next();
    sizes.push_back(batch.size());
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(batch.input.scalar_type(), at::kFloat);
  EXPECT_EQ(batch.input[0][0][1][1].item<float>(), 2.0F);  // (255/255 - 0.5) / 0.25
  EXPECT_TRUE(batch.input.is_contiguous(at::MemoryFormat::ChannelsLast));
}

// A card of 1,000 bytes whose host buffers are counted.
class SmallCard : public CpuDevice {
 public:
  std::optional<int64_t> free_bytes() const override { return 1000; }
  torch::Tensor host_buffer(at::IntArrayRef shape, at::ScalarType dtype) override {
    ++buffers;
    return at::empty(shape, dtype);
  }
  int buffers = 0;
};

TEST(Loader, CopiesBatchByBatchWhatTakesOverHalfOfTheDevice) {
  SmallCard card;
  // A sample is 2 x 2 bytes and a label of 8.
  EXPECT_TRUE(placed(numbered(40, 1), card).resident);  // 492 bytes
  const DataSet data = placed(numbered(41, 1), card);   // 504
  EXPECT_FALSE(data.resident);
  torch::manual_seed(42);
  Loader copied(card, data, data.train, SampleOrder::shuffled, 4, at::MemoryFormat::Contiguous);
  const std::vector<int64_t> order = pass(copied);
  EXPECT_EQ(card.buffers, 2 * copied.batches());
  torch::manual_seed(42);
  const DataSet resident = numbered(41, 1);
  Loader kept(card, resident, resident.train, SampleOrder::shuffled, 4,
              at::MemoryFormat::Contiguous);
  EXPECT_EQ(pass(kept), order);
  EXPECT_EQ(card.buffers, 2 * copied.batches());
}

TEST(Loader, ResizesWhenAsked) {
  DataSet data = numbered(2, 1);
  data.image_size = 6;
  Loader loader(device, data, data.train, SampleOrder::as_stored, 2, at::MemoryFormat::Contiguous);
  loader.start_pass();
  EXPECT_EQ(loader.next().input.sizes(), (std::vector<int64_t>{2, 1, 6, 6}));
  EXPECT_EQ(data.shape().height, 6);
}

// Every result must be one of the 9 x 9 crops of the padded image, or the mirror of one; which one
// is drawn anew for each image.
TEST(Augmentation, CropsAndMirrorsEachImage) {
  torch::manual_seed(5);
  CpuDevice cpu;
  const torch::Tensor image = torch::arange(1, 1 + 2 * 6 * 5).view({1, 2, 6, 5}).to(torch::kByte);
  const torch::Tensor padded = torch::constant_pad_nd(image[0], {4, 4, 4, 4});
  const torch::Tensor results = random_crop_and_flip(image.repeat({200, 1, 1, 1}), cpu);
  std::set<int64_t> seen;
  for (int64_t i = 0; i < results.size(0); ++i) {
    int64_t match = -1;
    for (int64_t crop = 0; crop < 81; ++crop) {
      const torch::Tensor candidate = padded.narrow(1, crop / 9, 6).narrow(2, crop % 9, 5);
      if (torch::equal(results[i], candidate)) match = crop;
      if (torch::equal(results[i], candidate.flip(2))) match = 81 + crop;
    }
    ASSERT_GE(match, 0) << "image " << i;
    seen.insert(match);
  }
  // 200 draws from 162: about 115 different ones are expected.
  EXPECT_GT(seen.size(), 80U);
  EXPECT_LT(*seen.begin(), 81);
  EXPECT_GE(*seen.rbegin(), 81);
}

TEST(Augmentation, IsForTrainingBatchesAlone) {
  DataSet data = numbered(64, 64);
  for (Split* split : {&data.train, &data.test}) split->samples.fill_(255);
  data.augment = true;
  Loader train(device, data, data.train, SampleOrder::shuffled, 64, at::MemoryFormat::Contiguous);
  Loader test(device, data, data.test, SampleOrder::as_stored, 64, at::MemoryFormat::Contiguous);
  train.start_pass();
  test.start_pass();
  // A crop of a 2x2 image with padding 4 is mostly padding.
  EXPECT_LT(train.next().input.mean().item<float>(), 0.0F);
  EXPECT_EQ(test.next().input.mean().item<float>(), 2.0F);
}

TEST(SyntheticData, DependsOnTheSeedAloneAndLeavesTheGlobalGeneratorAlone) {
  DatasetJob job;
  job.synthetic_shape = {3, 5, 7};
  job.synthetic_classes = 4;
  job.synthetic_train = 10;
  job.synthetic_test = 6;
  torch::manual_seed(1);
  const DataSet first = make_synthetic_data_set(job, 42);
  const float drawn = torch::rand({1}).item<float>();
  torch::manual_seed(1);
  EXPECT_EQ(torch::rand({1}).item<float>(), drawn);
  const DataSet again = make_synthetic_data_set(job, 42);
  const DataSet other = make_synthetic_data_set(job, 43);
  EXPECT_EQ(first.train.samples.sizes(), (std::vector<int64_t>{10, 3, 5, 7}));
  EXPECT_TRUE(torch::equal(first.train.samples, again.train.samples));
  EXPECT_TRUE(torch::equal(first.test.samples, again.test.samples));
  EXPECT_FALSE(torch::equal(first.train.samples, other.train.samples));
  EXPECT_EQ(first.train.targets.max().item<int64_t>(), 3);
}

double rate(const std::string& name, int64_t warmup, int64_t step) {
  ScheduleJob job;
  job.name = name;
  job.warmup_steps = warmup;
  return Schedule(job, 1.0, 100).rate(step);
}

TEST(Schedule, Shapes) {
  EXPECT_EQ(rate("constant", 0, 99), 1.0);
  EXPECT_DOUBLE_EQ(rate("constant", 4, 0), 0.25);
  EXPECT_DOUBLE_EQ(rate("constant", 4, 3), 1.0);
  EXPECT_DOUBLE_EQ(rate("cosine", 0, 0), 1.0);
  EXPECT_DOUBLE_EQ(rate("cosine", 0, 50), 0.5);
  EXPECT_DOUBLE_EQ(rate("cosine", 20, 60), 0.5);  // half of the 80 steps after the warm-up
  EXPECT_EQ(rate("step", 0, 49), 1.0);
  EXPECT_EQ(rate("step", 0, 50), 0.1);
  EXPECT_EQ(rate("step", 0, 75), 0.01);
}

}  // namespace
}  // namespace precbench::train::loader_test
