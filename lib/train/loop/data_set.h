// A data set as the loop sees it: all samples of both splits as uint8, resident on the device, or
// in host memory where the device has no room for them.
#pragma once

#include <torch/torch.h>

#include "common/job.h"
#include "train/cuda/device_module.h"
#include "train/models/registry.h"

namespace precbench::train {

struct Split {
  torch::Tensor images;  // uint8 [samples, channels, height, width]
  torch::Tensor labels;  // int64 [samples]

  int64_t size() const { return images.size(0); }
};

struct DataSet {
  Split train, test;
  double mean = 0, std = 1;  // of pixels scaled to [0, 1]
  int64_t classes = 0;
  int64_t image_size = 0;  // pixels that a batch is resized to; 0 = as stored
  bool resident = true;    // where the device has the samples; see placed()
  bool augment = false;    // random crop and flip of training batches

  SampleShape shape() const;
  int64_t bytes() const;
};

// Reads or generates the job's data set on the CPU. Throws FileError for a file that is missing or
// bad and UnsupportedError for a name that this version lacks.
DataSet load_data_set(const DatasetJob& job, uint32_t seed);

// Learnable classes of any shape, from `seed` alone: the same in every mode and on every device.
DataSet make_synthetic_data_set(const DatasetJob& job, uint32_t seed);

// On the device where its samples take at most kLargestShare of the memory that is free there, else
// as it is: then Loader copies each batch.
inline constexpr double kLargestShare = 0.5;  // the rest is for what training needs
DataSet placed(const DataSet& data, DeviceModule& device);

}  // namespace precbench::train
