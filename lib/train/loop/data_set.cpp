#include "train/loop/data_set.h"

#include "common/errors.h"
#include "common/names.h"
#include "train/errors.h"
#include "train/loop/idx_shim.h"

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

DataSet load_data_set(const DatasetJob& job, uint32_t seed) {
  if (job.name == "synthetic") return make_synthetic_data_set(job, seed);
  const DatasetTraits* traits = find_dataset(job.name);
  if (traits == nullptr || (job.name != "fashion-mnist" && job.name != "mnist")) {
    throw UnsupportedError("data set '" + job.name + "' is not in this version");
  }
  DataSet data;
  data.train = read_idx_split(job.dir, "train", job.limit_train);
  data.test = read_idx_split(job.dir, "t10k", job.limit_test);
  data.mean = traits->mean;
  data.std = traits->std;
  data.classes = traits->classes;
  data.image_size = job.image_size;
  return data;
}

DataSet moved_to(const DataSet& data, torch::Device device) {
  DataSet moved = data;
  for (Split* split : {&moved.train, &moved.test}) {
    split->images = split->images.to(device);
    split->labels = split->labels.to(device);
  }
  return moved;
}

}  // namespace precbench::train
