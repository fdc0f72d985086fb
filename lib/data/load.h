// Both splits of a data set as a job asks for them: found, read, checked, limited. Used by the
// worker to train and by the coordinator to know, before the first run, that there is something to
// train on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/job.h"
#include "data/idx.h"

namespace precbench::data {

struct ImageData {
  ImageSet train, test;
  int64_t classes = 0;
};

// Reads a data set from files. Throws FileError. (`synthetic` has no files: the worker draws it.)
ImageData load_images(const DatasetJob& job);

// What the coordinator wants to know.
struct DatasetSummary {
  int64_t train_samples = 0;  // after the limits
  int64_t test_samples = 0;
  int64_t classes = 0;
  std::vector<int64_t> shape;      // channels, height, width
  std::vector<std::string> files;  // in the order in which they are hashed; empty for synthetic
};

// Reads everything once: a truncated file is told now, not after the first mode. Throws FileError,
// and UsageError for a limit over what the data set holds.
DatasetSummary check_dataset(const DatasetJob& job);

}  // namespace precbench::data
