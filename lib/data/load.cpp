#include "data/load.h"

#include "common/errors.h"
#include "common/names.h"
#include "data/locate.h"

namespace precbench::data {
namespace {

const DatasetTraits& traits_of(const DatasetJob& job) {
  const DatasetTraits* traits = find_dataset(job.name);
  if (traits == nullptr) {
    throw UsageError("unknown data set '" + job.name + "'; `precbench list datasets` names them");
  }
  return *traits;
}

int64_t limited(int64_t count, int64_t limit, const char* option, const std::string& name) {
  if (limit > count) {
    throw UsageError(std::string(option) + " " + std::to_string(limit) + " is more than the " +
                     std::to_string(count) + " samples of " + name);
  }
  return limit > 0 ? limit : count;
}

void keep_first(ImageSet& set, int64_t count) {
  set.count = count;
  set.pixels.resize(static_cast<size_t>(count * set.channels * set.height * set.width));
  set.labels.resize(static_cast<size_t>(count));
}

}  // namespace

ImageData load_images(const DatasetJob& job) {
  const DatasetTraits& traits = traits_of(job);
  const IdxFiles files = locate_idx_files(job.name, job.dir);
  ImageData data;
  data.classes = traits.classes;
  data.train = read_idx(files.train_images, files.train_labels, traits.classes);
  data.test = read_idx(files.test_images, files.test_labels, traits.classes);
  if (data.train.height != data.test.height || data.train.width != data.test.width) {
    throw FileError("'" + files.test_images + "' has images of another size than '" +
                    files.train_images + "'");
  }
  keep_first(data.train, limited(data.train.count, job.limit_train, "--limit-train", job.name));
  keep_first(data.test, limited(data.test.count, job.limit_test, "--limit-test", job.name));
  return data;
}

DatasetSummary check_dataset(const DatasetJob& job) {
  if (traits_of(job).name == "synthetic") {
    return {limited(job.synthetic_train, job.limit_train, "--limit-train", job.name),
            limited(job.synthetic_test, job.limit_test, "--limit-test", job.name),
            job.synthetic_classes,
            job.synthetic_shape,
            {}};
  }
  const ImageData data = load_images(job);
  return {data.train.count,
          data.test.count,
          data.classes,
          {data.train.channels, data.train.height, data.train.width},
          locate_idx_files(job.name, job.dir).all()};
}

}  // namespace precbench::data
