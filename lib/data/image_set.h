// What every reader of images delivers.
#pragma once

#include <cstdint>
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

}  // namespace precbench::data
