#include "data/idx.h"

#include <algorithm>
#include <numeric>

#include "common/errors.h"
#include "data/file_bytes.h"

namespace precbench::data {
namespace {

constexpr uint8_t kUnsignedByte = 0x08;
constexpr size_t kFixedHeaderBytes = 4;
constexpr size_t kMaxFileBytes = size_t{4} << 30;  // no data set in this format comes near 4 GiB

struct IdxArray {
  std::vector<int64_t> shape;
  std::vector<uint8_t> values;
};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw FileError("'" + path + "' " + what);
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

// The number of values that the shape promises; refuses what cannot be a file.
uint64_t promised_bytes(const std::string& path, const std::vector<int64_t>& shape) {
  uint64_t bytes = 1;
  for (const int64_t size : shape) {
    if (size == 0) fail(path, "holds nothing: its header says " + shape_text(shape));
    if (bytes > kMaxFileBytes / static_cast<uint64_t>(size)) {
      fail(path, "promises " + shape_text(shape) +
                     " bytes, more than any such file holds; get the file again");
    }
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

IdxArray read_array(const std::string& path, size_t dimensions) {
  std::vector<uint8_t> bytes = read_file(path, kMaxFileBytes);
  const size_t header_bytes = kFixedHeaderBytes + 4 * dimensions;
  if (bytes.size() < kFixedHeaderBytes || bytes[0] != 0 || bytes[1] != 0)
    fail(path, "is not an IDX file");
  if (bytes[2] != kUnsignedByte) {
    fail(path, "holds IDX values of type " + std::to_string(bytes[2]) +
                   "; only unsigned bytes (8) are read");
  }
  if (bytes[3] != dimensions) {
    fail(path, "is IDX with " + std::to_string(bytes[3]) + " dimensions; " +
                   std::to_string(dimensions) +
                   " are expected here (are images and labels swapped?)");
  }
  if (bytes.size() < header_bytes) fail(path, "ends inside its header; get the file again");
  IdxArray array;
  for (size_t i = 0; i < dimensions; ++i) {
    const uint8_t* size = &bytes[kFixedHeaderBytes + 4 * i];
    array.shape.push_back(int64_t{size[0]} << 24 | int64_t{size[1]} << 16 | int64_t{size[2]} << 8 |
                          size[3]);
  }
  const uint64_t promised = promised_bytes(path, array.shape);
  const uint64_t held = bytes.size() - header_bytes;
  if (held != promised) {
    fail(path, std::string("is ") + (held < promised ? "truncated" : "too long") +
                   ": its header promises " + shape_text(array.shape) + " = " +
                   std::to_string(promised) + " bytes, the file holds " + std::to_string(held) +
                   "; get the file again");
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes));
  array.values = std::move(bytes);
  return array;
}

}  // namespace

ImageSet read_idx(const std::string& images_path, const std::string& labels_path, int64_t classes) {
  IdxArray images = read_array(images_path, 3);
  IdxArray labels = read_array(labels_path, 1);
  if (images.shape[0] != labels.shape[0]) {
    fail(labels_path, "holds " + std::to_string(labels.shape[0]) + " labels for the " +
                          std::to_string(images.shape[0]) + " images of '" + images_path + "'");
  }
  const auto largest = std::max_element(labels.values.begin(), labels.values.end());
  if (*largest >= classes) {
    fail(labels_path, "holds label " + std::to_string(*largest) +
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
