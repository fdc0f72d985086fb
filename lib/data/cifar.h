// CIFAR-10 and CIFAR-100 in their binary version (www.cs.toronto.edu/~kriz/cifar.html): records of
// one label byte (CIFAR-10) or a coarse and a fine one (CIFAR-100), then 3 x 32 x 32 pixels, red,
// green, blue.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/image_set.h"

namespace precbench::data {

struct CifarFormat {
  std::string_view name;
  int64_t label_bytes;  // per record; the last one is the label
  int64_t classes;
  std::string_view archive;  // as distributed
  std::string_view folder;   // that the archive unpacks to
  // Of the version for Python, which torchvision downloads and only Python reads.
  std::string_view python_folder;
  std::vector<std::string> train_files, test_files;
};

// "cifar10" or "cifar100", or null.
const CifarFormat* find_cifar(std::string_view name);

struct CifarSplits {
  ImageSet train, test;
};

// Reads all files of a folder, or out of the .tar or .tar.gz archive `path`; the training files in
// their order. Throws FileError: one is missing, truncated or corrupt, a label is out of range.
CifarSplits read_cifar(const CifarFormat& format, const std::string& path);

}  // namespace precbench::data
