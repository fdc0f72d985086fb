#include "train/loop/data_set.h"

#include "common/names.h"
#include "data/load.h"

namespace precbench::train {

SampleShape DataSet::shape() const {
  SampleShape shape;
  shape.channels = train.images.size(1);
  shape.height = image_size > 0 ? image_size : train.images.size(2);
  shape.width = image_size > 0 ? image_size : train.images.size(3);
  shape.classes = classes;
  return shape;
}

int64_t DataSet::bytes() const {
  return static_cast<int64_t>(train.images.nbytes() + train.labels.nbytes() + test.images.nbytes() +
                              test.labels.nbytes());
}

namespace {

// A copy: the bytes that were read go when the reader's vectors do.
Split to_split(const data::ImageSet& set) {
  const auto bytes = [](const std::vector<uint8_t>& values, at::IntArrayRef shape) {
    // from_blob takes a mutable pointer; the tensor is only read.
    return torch::from_blob(const_cast<uint8_t*>(values.data()), shape, torch::kByte);
  };
  return {bytes(set.pixels, {set.count, set.channels, set.height, set.width}).clone(),
          bytes(set.labels, {set.count}).to(torch::kLong)};
}

}  // namespace

DataSet load_data_set(const DatasetJob& job, uint32_t seed) {
  if (job.name == "synthetic") return make_synthetic_data_set(job, seed);
  const data::ImageData images = data::load_images(job);
  const DatasetTraits* traits = find_dataset(job.name);
  DataSet data;
  data.train = to_split(images.train);
  data.test = to_split(images.test);
  data.mean = traits->mean;
  data.std = traits->std;
  data.classes = images.classes;
  data.image_size = job.image_size;
  data.augment = job.augment;
  return data;
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
    split->images = split->images.to(device.device());
    split->labels = split->labels.to(device.device());
  }
  return moved;
}

}  // namespace precbench::train
