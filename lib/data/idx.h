// The IDX format of MNIST and its relatives (yann.lecun.com/exdb/mnist): two zero bytes, a type
// (0x08 = unsigned byte), the number of dimensions, each dimension as a big-endian 32-bit number,
// then the values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace precbench::data {

// Images as bytes [count, channels, height, width], one label per image.
struct ImageSet {
  int64_t count = 0;
  int64_t channels = 1;
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;
};

// Reads an image file ([n, h, w]) and its label file ([n]), both plain or gzip. Labels lie under
// `classes`. Throws FileError: not IDX, more promised than the file holds (or less), counts that
// differ, labels out of range.
ImageSet read_idx(const std::string& images_path, const std::string& labels_path, int64_t classes);

}  // namespace precbench::data
