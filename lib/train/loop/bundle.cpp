// Bundles of tensors, written by Python's torch.save.
#include <sstream>

#include "common/errors.h"
#include "data/locate.h"
#include "train/base/dtypes.h"
#include "train/data/data_set.h"
#include "train/data/tensor_file.h"

namespace precbench::train {
namespace {

constexpr const char* kHowToSaveBundle =
    "write it with torch.save({'train_x': x, 'train_y': y, 'test_x': .., 'test_y': ..}, FILE), the "
    "first dimension of each counting samples";

[[noreturn]] void fail(const std::string& path, const std::string& what,
                       const std::string& advice = kHowToSaveBundle) {
  throw FileError("'" + path + "' " + what + "\n       " + advice);
}

// "int64 [60, 12]"
std::string looks(const torch::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return dtype_name(tensor.scalar_type()) + " " + text.str();
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

bool is_whole(const torch::Tensor& tensor) {
  return at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
}

// One 1 in each row and nothing else.
bool is_one_hot(const torch::Tensor& targets) {
  return targets.dim() == 2 && targets.size(1) > 1 &&
         targets.eq(0).logical_or(targets.eq(1)).all().item<bool>() &&
         targets.eq(1).sum(1).eq(1).all().item<bool>();
}

// Whole numbers [samples] that start at 0, or one for each token [samples, context].
torch::Tensor checked_targets(const torch::Tensor& targets, const torch::Tensor& samples,
                              const std::string& path, const std::string& key) {
  if (is_one_hot(targets)) {
    fail(path, "holds " + key + " that are one-hot (" + looks(targets) + ")",
         "save class numbers: y.argmax(1)");
  }
  if (!is_whole(targets)) {
    fail(path,
         "holds " + key + " that are no whole numbers (" + looks(targets) +
             "): only classes are trained here",
         targets.dim() == 1 ? "save class numbers: y.long()"
                            : "save class numbers: y.argmax(1) where each row has a number for "
                              "each class");
  }
  if (targets.size(0) != samples.size(0)) {
    fail(path, "holds " + std::to_string(samples.size(0)) + " samples and " +
                   std::to_string(targets.size(0)) + " targets in " + key);
  }
  const bool is_per_token =
      targets.dim() == 2 && targets.sizes() == samples.sizes() && is_whole(samples);
  if (targets.dim() != 1 && !is_per_token) {
    fail(path,
         "holds " + key + " that are not one class per sample (" + looks(targets) + " beside " +
             looks(samples) + ")",
         targets.dim() == 2 && targets.size(1) == 1
             ? "save class numbers: y.squeeze(1)"
             : "save one class number for each sample, or for each token of whole numbers "
               "[samples, tokens]");
  }
  const torch::Tensor classes = targets.to(torch::kLong).contiguous();
  if (const auto lowest = classes.min().item<int64_t>(); lowest < 0) {
    fail(path, "holds a negative class in " + key + " (" + std::to_string(lowest) + ")",
         "number the classes from 0; targets that a loss leaves out are not known here");
  }
  return classes;
}

// int64 for every kind of whole number; bytes are pixels or tokens.
torch::Tensor checked_samples(const torch::Tensor& samples) {
  return is_whole(samples) && samples.scalar_type() != torch::kByte ? samples.to(torch::kLong)
                                                                    : samples;
}

// Samples in parts: the copies that this makes are small beside the samples.
void look_for_what_is_not_finite(Split& split) {
  constexpr int64_t kPart = 1024;
  if (!split.samples.is_floating_point()) return;
  for (int64_t begin = 0; begin < split.size(); begin += kPart) {
    const int64_t count = std::min(kPart, split.size() - begin);
    const torch::Tensor part = split.samples.narrow(0, begin, count).reshape({count, -1});
    const torch::Tensor finite = part.isfinite();
    split.non_finite_samples += count - finite.all(1).sum().item<int64_t>();
    const torch::Tensor size = part.to(torch::kDouble).abs().masked_fill(~finite, 0);
    split.largest = std::max(split.largest, size.max().item<double>());
  }
}

}  // namespace

DataSet load_bundle(const DatasetJob& job) {
  const std::string path = data::locate_dataset(job.name, job.dir);
  const std::vector<std::string> keys = {"train_x", "train_y", "test_x", "test_y"};
  const auto tensors = read_tensors(path, kHowToSaveBundle, keys);
  for (const std::string& key : keys) {
    if (!tensors.contains(key)) fail(path, "lacks " + key);
    const torch::Tensor& tensor = tensors.at(key);
    if (tensor.dim() == 0) fail(path, "holds one number as " + key);
    if (tensor.numel() == 0) fail(path, "has no samples in " + key + " (" + looks(tensor) + ")");
  }
  const auto split = [&](const std::string& name, int64_t limit) {
    const std::string x = name + "_x", y = name + "_y";
    const torch::Tensor samples = checked_samples(tensors.at(x));
    const torch::Tensor targets = checked_targets(tensors.at(y), samples, path, y);
    Split checked;
    checked.samples = first_of(samples, limit, path, x).contiguous();
    checked.targets = first_of(targets, limit, path, y).contiguous();
    look_for_what_is_not_finite(checked);
    return checked;
  };
  DataSet data;
  data.train = split("train", job.limit_train);
  data.test = split("test", job.limit_test);
  const torch::Tensor &train = data.train.samples, &test = data.test.samples;
  if (train.sizes().slice(1) != test.sizes().slice(1) || train.dtype() != test.dtype() ||
      data.train.targets.dim() != data.test.targets.dim()) {
    fail(path, "holds test_x and test_y of another shape or dtype than train_x and train_y (" +
                   looks(test) + " and " + looks(train) + ")");
  }
  if (data.train.targets.dim() == 2) data.kind = SampleKind::text;
  if (train.scalar_type() == torch::kByte && data.kind == SampleKind::images) {
    if (train.dim() < 3) {
      fail(path, "holds train_x of " + looks(train) + ", which may be pixels or ids",
           "save x.long() to have them read as whole numbers (ids, tokens), or x.float() / 255 as "
           "pixels");
    }
    data.mean = {0.0};
    data.std = {1.0};
  }
  data.classes = data.tags = highest_target(data) + 1;
  if (data.kind == SampleKind::text) {
    const auto lowest = torch::minimum(train.min(), test.min()).item<int64_t>();
    if (lowest < 0) fail(path, "holds a negative token (" + std::to_string(lowest) + ")");
    const torch::Tensor tokens = torch::maximum(train.max(), test.max());
    data.classes = std::max(data.classes, tokens.item<int64_t>() + 1);
  }
  data.image_size = job.image_size;
  data.augment = job.augment;
  return data;
}

}  // namespace precbench::train
