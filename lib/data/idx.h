// The IDX format of MNIST and its relatives (yann.lecun.com/exdb/mnist): two zero bytes, a type
// (0x08 = unsigned byte), the number of dimensions, each dimension as a big-endian 32-bit number,
// then the values.
#pragma once

#include <cstdint>
#include <string>

#include "data/image_set.h"

namespace precbench::data {

// Reads an image file ([n, h, w]) and its label file ([n]), both plain or gzip. Labels lie under
// `classes`. Throws FileError: not IDX, more promised than the file holds (or less), corrupt gzip,
// counts that differ, labels out of range. With a `limit` over 0 only the first so many samples are
// read, and the rest of the files is not looked at.
ImageSet read_idx(const std::string& images_path, const std::string& labels_path, int64_t classes,
                  int64_t limit = 0);

}  // namespace precbench::data
