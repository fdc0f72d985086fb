#include "train/loop/data_set.h"

#include <sstream>
#include <stdexcept>

#include "common/names.h"
#include "data/load.h"
#include "train/errors.h"

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

SampleShape DataSet::shape() const {
  const auto sizes = train.samples.sizes();
  SampleShape shape = {1, 1, sizes.back(), classes};
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

void check_model_reads(const TrainJob& job, const DataSet& data) {
  const ModelTraits* model = find_model(job.model);
  const bool is_image_batch = data.train.samples.dim() == kImageBatchRank;
  const bool changes_images = data.image_size > 0 || data.augment;
  require(!changes_images || is_image_batch,
          "--image-size and --augment need images [samples, channels, height, width]");
  if (model == nullptr || !job.model_file.empty()) return;
  const auto word = [](SampleKind kind) {
    return std::string(kind == SampleKind::text ? "text" : "images");
  };
  require(model->samples == data.kind, "model " + job.model + " reads " + word(model->samples) +
                                           "; data set " + job.dataset.name + " holds " +
                                           word(data.kind));
  std::ostringstream shape;
  shape << data.train.samples.sizes();
  require(data.kind == SampleKind::text || is_image_batch || job.model == "mlp",
          "model " + job.model +
              " needs samples of the shape [samples, channels, height, width]; " + "these have " +
              shape.str());
}

}  // namespace precbench::train
