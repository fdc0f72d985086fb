// Bundles of tensors, written by Python's torch.save.
#include "common/errors.h"
#include "data/locate.h"
#include "train/loop/data_set.h"
#include "train/loop/tensor_file.h"

namespace precbench::train {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw FileError("'" + path + "' " + what +
                  "\n       write it with torch.save({'train_x': x, 'train_y': y, 'test_x': .., "
                  "'test_y': ..}, FILE), the first dimension of each counting samples");
}

torch::Tensor first_of(const torch::Tensor& tensor, int64_t limit, const std::string& path,
                       const std::string& key) {
  if (limit == 0) return tensor;
  if (limit > tensor.size(0)) {
    fail(path, "has " + std::to_string(tensor.size(0)) + " samples in " + key + "; the limit is " +
                   std::to_string(limit));
  }
  return tensor.narrow(0, 0, limit);
}

// Whole numbers [samples] that start at 0, or tokens [samples, context].
torch::Tensor checked_targets(const torch::Tensor& targets, const torch::Tensor& samples,
                              const std::string& path, const std::string& key) {
  if (!at::isIntegralType(targets.scalar_type(), /*includeBool=*/false)) {
    fail(path, "holds " + key + " that are no whole numbers: only classes are trained here");
  }
  const torch::Tensor classes = targets.to(torch::kLong).contiguous();
  const bool is_shape_right =
      classes.dim() == 1 || (classes.dim() == 2 && classes.sizes() == samples.sizes());
  if (!is_shape_right) fail(path, "holds " + key + " that are not one class per sample");
  if (classes.size(0) != samples.size(0)) {
    fail(path, "holds " + std::to_string(samples.size(0)) + " samples and " +
                   std::to_string(classes.size(0)) + " targets in " + key);
  }
  if (classes.min().item<int64_t>() < 0) fail(path, "holds a negative class in " + key);
  return classes;
}

}  // namespace

DataSet load_bundle(const DatasetJob& job) {
  const std::string path = data::locate_dataset(job.name, job.dir);
  const auto tensors = read_tensors(path);
  for (const char* key : {"train_x", "train_y", "test_x", "test_y"}) {
    if (!tensors.contains(key)) fail(path, "lacks " + std::string(key));
    const torch::Tensor& tensor = tensors.at(key);
    if (tensor.dim() == 0 || tensor.numel() == 0)
      fail(path, "has no samples in " + std::string(key));
  }
  const auto split = [&](const std::string& name, int64_t limit) {
    const std::string x = name + "_x", y = name + "_y";
    const torch::Tensor& samples = tensors.at(x);
    if (samples.dim() < 2) fail(path, "holds " + x + " with one dimension only");
    const torch::Tensor targets = checked_targets(tensors.at(y), samples, path, y);
    return Split{first_of(samples, limit, path, x).contiguous(),
                 first_of(targets, limit, path, y).contiguous()};
  };
  DataSet data;
  data.train = split("train", job.limit_train);
  data.test = split("test", job.limit_test);
  const torch::Tensor &train = data.train.samples, &test = data.test.samples;
  if (train.sizes().slice(1) != test.sizes().slice(1) || train.dtype() != test.dtype()) {
    fail(path, "holds test_x of another shape or dtype than train_x");
  }
  if (data.train.targets.dim() == 2) data.kind = SampleKind::text;
  if (train.scalar_type() == torch::kByte && data.kind == SampleKind::images) {
    data.mean = {0.0};
    data.std = {1.0};
  }
  const torch::Tensor highest = torch::maximum(data.train.targets.max(), data.test.targets.max());
  data.classes = highest.item<int64_t>() + 1;
  if (data.kind == SampleKind::text) {
    const torch::Tensor tokens = torch::maximum(train.max(), test.max());
    data.classes = std::max(data.classes, tokens.item<int64_t>() + 1);
  }
  data.image_size = job.image_size;
  data.augment = job.augment;
  return data;
}

}  // namespace precbench::train
