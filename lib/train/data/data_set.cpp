#include "train/data/data_set.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "common/names.h"
#include "data/load.h"
#include "train/base/dtypes.h"
#include "train/base/errors.h"

namespace precbench::train {
namespace {

constexpr int64_t kImageBatchRank = 4;  // samples, channels, height, width

// A copy: the bytes that were read go when the reader's vectors do.
torch::Tensor bytes_of(const std::vector<uint8_t>& values, at::IntArrayRef shape) {
  // from_blob takes a mutable pointer; the tensor is only read.
  return torch::from_blob(const_cast<uint8_t*>(values.data()), shape, torch::kByte).clone();
}

Split to_split(const data::ImageSet& set) {
  return {bytes_of(set.pixels, {set.count, set.channels, set.height, set.width}),
          bytes_of(set.labels, {set.count}).to(torch::kLong)};
}

// Sequences that follow each other; the targets are the same bytes one further on.
Split to_split(const std::vector<uint8_t>& text, int64_t context) {
  const int64_t count = data::sequences_in(text, context);
  const torch::Tensor bytes = bytes_of(text, {static_cast<int64_t>(text.size())});
  const auto sequences = [&](int64_t begin) {
    return bytes.narrow(0, begin, count * context).view({count, context});
  };
  return {sequences(0), sequences(1)};
}

DataSet load_text_set(const DatasetJob& job) {
  const data::TextSet text = data::load_text(job);
  DataSet data;
  data.kind = SampleKind::text;
  data.train = to_split(text.train, job.context);
  data.test = to_split(text.test, job.context);
  data.classes = find_dataset(job.name)->classes;
  data.tags = highest_target(data) + 1;
  return data;
}

DataSet load_image_set(const DatasetJob& job) {
  const data::ImageData images = data::load_images(job);
  const DatasetTraits& traits = *find_dataset(job.name);
  DataSet data;
  data.train = to_split(images.train);
  data.test = to_split(images.test);
  const auto channels = static_cast<std::ptrdiff_t>(images.train.channels);
  data.mean.assign(traits.mean.begin(), traits.mean.begin() + channels);
  data.std.assign(traits.std.begin(), traits.std.begin() + channels);
  data.classes = images.classes;
  data.image_size = job.image_size;
  data.augment = job.augment;
  return data;
}

}  // namespace

int64_t highest_target(const DataSet& data) {
  return std::max(data.train.targets.max().item<int64_t>(),
                  data.test.targets.max().item<int64_t>());
}

SampleShape DataSet::shape() const {
  const auto sizes = train.samples.sizes();
  SampleShape shape = {1, 1, sizes.size() > 1 ? sizes.back() : 1, classes};
  if (sizes.size() > 2) shape.height = sizes[sizes.size() - 2];
  if (sizes.size() > 3) shape.channels = sizes[sizes.size() - 3];
  if (image_size > 0) shape.height = shape.width = image_size;
  return shape;
}

int64_t DataSet::bytes() const {
  const auto bytes_of_split = [](const Split& split) {
    const bool shared = split.targets.is_alias_of(split.samples);
    return split.samples.nbytes() + (shared ? 0 : split.targets.nbytes());
  };
  return static_cast<int64_t>(bytes_of_split(train) + bytes_of_split(test));
}

DataSet load_data_set(const DatasetJob& job, uint32_t seed) {
  if (job.name == "synthetic") return make_synthetic_data_set(job, seed);
  if (job.name == "bundle") return load_bundle(job);
  const DatasetTraits* traits = find_dataset(job.name);
  const bool is_text = traits != nullptr && traits->samples == SampleKind::text;
  return is_text ? load_text_set(job) : load_image_set(job);
}

DataSet placed(const DataSet& data, DeviceModule& device) {
  const std::optional<int64_t> room = device.free_bytes();
  if (room && static_cast<double>(data.bytes()) > kLargestShare * static_cast<double>(*room)) {
    DataSet kept = data;
    kept.resident = false;
    return kept;
  }
  DataSet moved = data;
  for (Split* split : {&moved.train, &moved.test}) {
    split->samples = split->samples.to(device.device());
    split->targets = split->targets.to(device.device());
  }
  return moved;
}

DataTroubles troubles_of(const DataSet& data, const ModeTraits& mode) {
  constexpr double kLargestFloat16 = 65504;
  const auto trouble_of = [&](const Split& split, const char* name) -> std::string {
    std::ostringstream text;
    if (split.non_finite_samples > 0) {
      text << name << " holds NaN or infinite values in " << split.non_finite_samples << " of "
           << split.size() << " samples";
    } else if (mode.compute == Dtype::float16 && split.largest > kLargestFloat16) {
      text << name << " has values up to " << split.largest
           << ", which are infinite in float16 (largest number " << kLargestFloat16
           << "): scale the inputs";
    }
    return text.str();
  };
  return {trouble_of(data.train, "train_x"), trouble_of(data.test, "test_x")};
}

void check_model_reads(const TrainJob& job, const DataSet& data) {
  const ModelTraits* model = find_model(job.model);
  const torch::Tensor& samples = data.train.samples;
  const bool is_image_batch = samples.dim() == kImageBatchRank;
  const bool are_numbers = samples.is_floating_point() || !data.mean.empty();
  const bool changes_images = job.dataset.image_size > 0 || job.dataset.augment;
  require(!changes_images || (is_image_batch && are_numbers),
          "--image-size and --augment need images [samples, channels, height, width] of uint8 or "
          "of a floating dtype");
  if (model == nullptr || !job.model_file.empty()) return;
  const auto word = [](SampleKind kind) {
    return std::string(kind == SampleKind::text ? "text" : "images");
  };
  require(model->samples == data.kind, "model " + job.model + " reads " + word(model->samples) +
                                           "; data set " + job.dataset.name + " holds " +
                                           word(data.kind));
  require(data.kind == SampleKind::text || are_numbers,
          "model " + job.model + " computes with numbers; these samples are " +
              dtype_name(samples.scalar_type()) +
              ", which only a module of your own reads, as they are; save x.float() instead");
  std::ostringstream shape;
  shape << samples.sizes();
  require(
      data.kind == SampleKind::text || is_image_batch || (job.model == "mlp" && samples.dim() > 1),
      "model " + job.model + " needs samples of the shape [samples, channels, height, width]; " +
          "these have " + shape.str());
}

}  // namespace precbench::train
