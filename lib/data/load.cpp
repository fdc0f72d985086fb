#include "data/load.h"

#include <filesystem>

#include "common/errors.h"
#include "common/names.h"
#include "data/cifar.h"
#include "data/file_reader.h"
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

void read_idx_files(ImageData& data, const IdxFiles& files, const DatasetJob& job) {
  data.train = read_idx(files.train_images, files.train_labels, data.classes, job.limit_train);
  data.test = read_idx(files.test_images, files.test_labels, data.classes, job.limit_test);
  if (data.train.height != data.test.height || data.train.width != data.test.width) {
    throw FileError("'" + files.test_images + "' has images of another size than '" +
                    files.train_images + "'");
  }
}

// What is hashed to know the data again.
std::vector<std::string> image_files(const DatasetJob& job) {
  const CifarFormat* cifar = find_cifar(job.name);
  if (cifar == nullptr) return locate_idx_files(job.name, job.dir).all();
  const std::string path = locate_dataset(job.name, job.dir);
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto* names : {&cifar->train_files, &cifar->test_files}) {
    for (const std::string& name : *names) files.push_back(path + "/" + name);
  }
  return files;
}

}  // namespace

ImageData load_images(const DatasetJob& job) {
  const DatasetTraits& traits = traits_of(job);
  ImageData data;
  data.classes = traits.classes;
  if (const CifarFormat* cifar = find_cifar(job.name)) {
    CifarSplits splits = read_cifar(*cifar, locate_dataset(job.name, job.dir));
    data.train = std::move(splits.train);
    data.test = std::move(splits.test);
  } else {
    read_idx_files(data, locate_idx_files(job.name, job.dir), job);
  }
  keep_first(data.train, limited(data.train.count, job.limit_train, "--limit-train", job.name));
  keep_first(data.test, limited(data.test.count, job.limit_test, "--limit-test", job.name));
  return data;
}

int64_t sequences_in(const std::vector<uint8_t>& text, int64_t context) {
  return (static_cast<int64_t>(text.size()) - 1) / context;
}

TextSet load_text(const DatasetJob& job) {
  TextSet text = read_text(locate_dataset(job.name, job.dir), job.context);
  const auto keep_sequences = [&](std::vector<uint8_t>& bytes, int64_t limit, const char* option) {
    const int64_t count = limited(sequences_in(bytes, job.context), limit, option, job.name);
    bytes.resize(static_cast<size_t>(count * job.context + 1));
  };
  keep_sequences(text.train, job.limit_train, "--limit-train");
  keep_sequences(text.test, job.limit_test, "--limit-test");
  return text;
}

std::string python_file_of(const std::string& place) {
  const size_t colon = place.rfind(':');
  const std::string path = place.substr(0, colon);
  return path.ends_with(".py") ? path : "";
}

void check_torch_file(const std::string& path) {
  FileReader file(path);
  const std::vector<uint8_t> start = file.read_up_to(4);
  if (start == std::vector<uint8_t>{'P', 'K', 3, 4}) return;
  constexpr uint8_t kPickleProtocol = 0x80;
  if (start.front() == kPickleProtocol) {
    fail_file(path,
              "is a pickle without an archive, as torch.save wrote before PyTorch 1.6\n       save "
              "it again: torch.save(torch.load(OLD), NEW)");
  }
  fail_file(path, "is not a file that torch.save or torch.jit.save writes");
}

void check_model_file(const TrainJob& job) {
  if (job.model_file.empty()) return;
  if (job.model != kPython) return check_torch_file(job.model_file);
  if (const std::string file = python_file_of(job.model_file); !file.empty()) FileReader{file};
}

DatasetSummary check_dataset(const DatasetJob& job) {
  const DatasetTraits& traits = traits_of(job);
  if (traits.name == "synthetic") {
    return {limited(job.synthetic_train, job.limit_train, "--limit-train", job.name),
            limited(job.synthetic_test, job.limit_test, "--limit-test", job.name),
            job.synthetic_classes,
            job.synthetic_shape,
            {}};
  }
  if (traits.name == kPython) {
    const std::string path = python_file_of(job.dir);
    FileReader{path};
    return {0, 0, 0, {}, {path}};
  }
  if (traits.name == "bundle") {
    const std::string path = locate_dataset(job.name, job.dir);
    check_torch_file(path);
    return {0, 0, 0, {}, {path}};
  }
  if (traits.samples == SampleKind::text) {
    const TextSet text = load_text(job);
    return {sequences_in(text.train, job.context),
            sequences_in(text.test, job.context),
            traits.classes,
            {1, 1, job.context},
            {locate_dataset(job.name, job.dir)}};
  }
  DatasetJob whole = job;
  whole.limit_train = whole.limit_test = 0;
  const ImageData data = load_images(whole);
  return {limited(data.train.count, job.limit_train, "--limit-train", job.name),
          limited(data.test.count, job.limit_test, "--limit-test", job.name),
          data.classes,
          {data.train.channels, data.train.height, data.train.width},
          image_files(job)};
}

}  // namespace precbench::data
