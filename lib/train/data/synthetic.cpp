#include <algorithm>

#include "train/data/data_set.h"

namespace precbench::train {
namespace {

// A sample is its class's pattern plus noise. With these amplitudes (of 255) a linear model already
// learns 28 px samples, and no model gets all of them right.
constexpr int kPatternAmplitude = 32;
constexpr int kNoiseAmplitude = 96;
// Pixels of noise that are drawn at most; more samples than that share noise images.
constexpr int64_t kNoisePixels = int64_t{1} << 25;

torch::Tensor random_bytes(at::IntArrayRef shape, int amplitude, at::Generator& generator) {
  return torch::empty(shape, torch::kShort).random_(-amplitude, amplitude + 1, generator);
}

Split make_split(int64_t samples, const torch::Tensor& patterns, at::Generator& generator) {
  const int64_t classes = patterns.size(0);
  const int64_t pixels = patterns[0].numel();
  const int64_t noises = std::clamp<int64_t>(kNoisePixels / pixels, 16, samples);
  std::vector<int64_t> shape = patterns.sizes().vec();
  shape[0] = noises;
  const torch::Tensor noise = random_bytes(shape, kNoiseAmplitude, generator);
  const torch::Tensor labels = torch::arange(samples, torch::kLong).remainder(classes);
  shape[0] = samples;
  const torch::Tensor images = torch::empty(shape, torch::kByte);
  constexpr int64_t kChunk = 1024;
  for (int64_t begin = 0; begin < samples; begin += kChunk) {
    const int64_t count = std::min(kChunk, samples - begin);
    const torch::Tensor which = noises == samples
                                    ? torch::arange(begin, begin + count, torch::kLong)
                                    : torch::randint(noises, {count}, generator, torch::kLong);
    const torch::Tensor pixels_of_chunk =
        patterns.index_select(0, labels.narrow(0, begin, count)) + noise.index_select(0, which);
    images.narrow(0, begin, count).copy_((pixels_of_chunk + 128).clamp_(0, 255));
  }
  return {images, labels};
}

// Three of four bytes follow from the one before, by a table; the fourth is random.
constexpr double kPredictable = 0.75;

Split make_text(int64_t sequences, int64_t context, const torch::Tensor& table,
                at::Generator& generator) {
  const int64_t tokens = table.size(0);
  const torch::Tensor text = torch::empty({context + 1, sequences}, torch::kByte);
  torch::Tensor token = torch::randint(tokens, {sequences}, generator, torch::kLong);
  for (int64_t i = 0; i <= context; ++i) {
    text[i].copy_(token);
    const torch::Tensor random = torch::randint(tokens, {sequences}, generator, torch::kLong);
    const torch::Tensor follows = torch::rand({sequences}, generator) < kPredictable;
    token = torch::where(follows, table.index_select(0, token), random);
  }
  return {text.narrow(0, 0, context).t().contiguous(), text.narrow(0, 1, context).t().contiguous()};
}

}  // namespace

DataSet make_synthetic_data_set(const DatasetJob& job, uint32_t seed) {
  // A generator of its own: weights and order of the data do not depend on how much was drawn here.
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const auto limited = [](int64_t samples, int64_t limit) {
    return limit > 0 ? std::min(samples, limit) : samples;
  };
  const int64_t train = limited(job.synthetic_train, job.limit_train);
  const int64_t test = limited(job.synthetic_test, job.limit_test);
  DataSet data;
  if (job.context > 0) {
    constexpr int64_t kTokens = 256;
    const torch::Tensor table = torch::randperm(kTokens, generator, torch::kLong);
    data.kind = SampleKind::text;
    data.train = make_text(train, job.context, table, generator);
    data.test = make_text(test, job.context, table, generator);
    data.classes = data.tags = kTokens;
    return data;
  }
  std::vector<int64_t> shape = {job.synthetic_classes};
  shape.insert(shape.end(), job.synthetic_shape.begin(), job.synthetic_shape.end());
  const torch::Tensor patterns = random_bytes(shape, kPatternAmplitude, generator);
  data.train = make_split(train, patterns, generator);
  data.test = make_split(test, patterns, generator);
  data.mean = {0.5};
  data.std = {0.25};
  data.classes = job.synthetic_classes;
  data.image_size = job.image_size;
  data.augment = job.augment;
  return data;
}

}  // namespace precbench::train
