#pragma once

#include <cstdint>

namespace precbench::train {

// What a data set's samples look like; the models' outer layers follow from it. A text has one
// channel, height 1, its context as width, and 256 classes: the bytes.
struct SampleShape {
  int64_t channels = 1;
  int64_t height = 28;  // pixels, after resizing
  int64_t width = 28;
  int64_t classes = 10;
};

}  // namespace precbench::train
