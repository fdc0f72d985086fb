#include "data/idx.h"

#include <algorithm>
#include <span>
#include <vector>

#include "common/limits.h"
#include "data/file_reader.h"

namespace precbench::data {
namespace {

constexpr uint8_t kUnsignedByte = 0x08;
constexpr size_t kFixedHeaderBytes = 4;

// How far bytes after the last value are counted: a small .gz may inflate to gigabytes.
constexpr uint64_t kCountedExcess = uint64_t{1} << 20;

struct IdxArray {
  std::vector<int64_t> shape;
  std::vector<uint8_t> values;
};

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

// The number of values that the shape promises; refuses what cannot be a file.
uint64_t promised_bytes(const std::string& path, const std::vector<int64_t>& shape) {
  uint64_t bytes = 1;
  for (const int64_t size : shape) {
    if (size == 0) fail_file(path, "holds nothing: its header says " + shape_text(shape));
    if (bytes > limits::kIdxBytes / static_cast<uint64_t>(size)) {
      fail_file(path, "promises " + shape_text(shape) +
                          " bytes, more than any such file holds; get the file again");
    }
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

void check_magic(const std::string& path, std::span<const uint8_t> magic, size_t dimensions) {
  if (magic.size() < kFixedHeaderBytes || magic[0] != 0 || magic[1] != 0)
    fail_file(path, "is not an IDX file");
  if (magic[2] != kUnsignedByte) {
    fail_file(path, "holds IDX values of type " + std::to_string(magic[2]) +
                        "; only unsigned bytes (8) are read");
  }
  if (magic[3] != dimensions) {
    fail_file(path, "is IDX with " + std::to_string(magic[3]) + " dimensions; " +
                        std::to_string(dimensions) +
                        " are expected here (are images and labels swapped?)");
  }
}

// The first `limit` entries; with 0 all of them, and nothing may follow them.
IdxArray read_array(const std::string& path, size_t dimensions, int64_t limit) {
  FileReader file(path);
  check_magic(path, file.read_up_to(kFixedHeaderBytes), dimensions);
  const std::vector<uint8_t> sizes = file.read_up_to(4 * dimensions);
  if (sizes.size() < 4 * dimensions) fail_file(path, "ends inside its header; get the file again");
  IdxArray array;
  for (size_t i = 0; i < dimensions; ++i) {
    const uint8_t* size = &sizes[4 * i];
    array.shape.push_back(int64_t{size[0]} << 24 | int64_t{size[1]} << 16 | int64_t{size[2]} << 8 |
                          size[3]);
  }
  const uint64_t promised = promised_bytes(path, array.shape);
  const int64_t kept = limit > 0 ? std::min(limit, array.shape[0]) : array.shape[0];
  const uint64_t wanted =
      promised / static_cast<uint64_t>(array.shape[0]) * static_cast<uint64_t>(kept);
  array.values = file.read_up_to(wanted);
  // What a limit leaves out is taken to be there.
  const bool is_left_out = wanted < promised && array.values.size() == wanted;
  const uint64_t excess = is_left_out ? promised - wanted : file.count_rest(kCountedExcess);
  const uint64_t held = array.values.size() + excess;
  if (held != promised) {
    fail_file(path, std::string("is ") + (held < promised ? "truncated" : "too long") +
                        ": its header promises " + shape_text(array.shape) + " = " +
                        std::to_string(promised) + " bytes, the file holds " +
                        (excess == kCountedExcess ? "at least " : "") + std::to_string(held) +
                        "; get the file again");
  }
  array.shape[0] = kept;
  return array;
}

}  // namespace

ImageSet read_idx(const std::string& images_path, const std::string& labels_path, int64_t classes,
                  int64_t limit) {
  IdxArray images = read_array(images_path, 3, limit);
  IdxArray labels = read_array(labels_path, 1, limit);
  if (images.shape[0] != labels.shape[0]) {
    fail_file(labels_path, "holds " + std::to_string(labels.shape[0]) + " labels for the " +
                               std::to_string(images.shape[0]) + " images of '" + images_path +
                               "'");
  }
  const auto largest = std::max_element(labels.values.begin(), labels.values.end());
  if (*largest >= classes) {
    fail_file(labels_path, "holds label " + std::to_string(*largest) +
                               "; this data set has classes 0 to " + std::to_string(classes - 1));
  }
  ImageSet set;
  set.count = images.shape[0];
  set.height = images.shape[1];
  set.width = images.shape[2];
  set.pixels = std::move(images.values);
  set.labels = std::move(labels.values);
  return set;
}

}  // namespace precbench::data
