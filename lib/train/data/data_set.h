// A data set as the loop sees it: all samples of both splits as they are stored, resident on the
// device, or in host memory where the device has no room for them.
#pragma once

#include <vector>

#include "common/job.h"
#include "common/modes.h"
#include "common/names.h"
#include "train/base/torch.h"
#include "train/data/sample_shape.h"
#include "train/device/device_module.h"

namespace precbench::train {

struct Split {
  // Images: uint8 [samples, channels, height, width]. Text: uint8 [samples, context]. A bundle's:
  // as Python saved them, whole numbers as int64; the first dimension counts samples.
  torch::Tensor samples;
  torch::Tensor targets;  // int64 [samples]; of a text uint8 [samples, context]
  // Of floating samples: how many have a NaN or an infinity, and the largest finite number.
  int64_t non_finite_samples = 0;
  double largest = 0;

  int64_t size() const { return samples.size(0); }
};

struct DataSet {
  Split train, test;
  SampleKind kind = SampleKind::images;
  // Of pixels scaled to [0, 1]: one number for all channels, or one for each; none = samples that
  // are fed as they are, whole numbers as int64.
  std::vector<double> mean, std;
  int64_t classes = 0;     // of a text: how many tokens there are
  int64_t tags = 0;        // of a text: its targets are below it
  int64_t image_size = 0;  // pixels that a batch is resized to; 0 = as stored
  bool resident = true;    // where the device has the samples; see placed()
  bool augment = false;    // random crop and flip of training batches

  SampleShape shape() const;
  int64_t bytes() const;
  int64_t target_classes() const { return kind == SampleKind::text ? tags : classes; }
  int64_t targets_per_sample() const { return train.targets.numel() / train.size(); }
};

// Reads or generates the job's data set on the CPU. Throws FileError for a file that is missing or
// bad and UnsupportedError for a name that this version lacks.
DataSet load_data_set(const DatasetJob& job, uint32_t seed);

// Learnable classes of any shape, or text, from `seed` alone: the same in every mode and on every
// device.
DataSet make_synthetic_data_set(const DatasetJob& job, uint32_t seed);

// Of both splits.
int64_t highest_target(const DataSet& data);

// Tensors that Python saved with torch.save({"train_x": .., "train_y": .., "test_x": .., "test_y":
// ..}). Throws FileError that says what does not fit.
DataSet load_bundle(const DatasetJob& job);

// On the device where its samples take at most kLargestShare of the memory that is free there, else
// as it is: then Loader copies each batch.
inline constexpr double kLargestShare = 0.5;  // the rest is for what training needs
DataSet placed(const DataSet& data, DeviceModule& device);

// What keeps figures in `mode` from being numbers, a sentence for each split that has such samples;
// empty where nothing does.
struct DataTroubles {
  std::string train, test;
};
DataTroubles troubles_of(const DataSet& data, const ModeTraits& mode);

// Throws std::invalid_argument where the model cannot read such samples.
void check_model_reads(const TrainJob& job, const DataSet& data);

}  // namespace precbench::train
