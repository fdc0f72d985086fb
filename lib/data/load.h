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
#include "data/text.h"

namespace precbench::data {

struct ImageData {
  ImageSet train, test;
  int64_t classes = 0;
};

// Reads a data set of images from files, IDX files no further than the limits. Throws FileError.
// (`synthetic` has no files: the worker draws it; a `bundle` is read with LibTorch.)
ImageData load_images(const DatasetJob& job);

// The job's text; limits count sequences of `context` bytes.
TextSet load_text(const DatasetJob& job);

// Whole sequences of `context` bytes, each with the byte that follows its last one.
int64_t sequences_in(const std::vector<uint8_t>& text, int64_t context);

// "model.py" of "model.py:name"; empty of a library's, "timm:resnet50d".
std::string python_file_of(const std::string& place);

// torch.save and torch.jit.save write a zip archive (since PyTorch 1.6); what is in it the worker
// knows. Throws FileError for another file.
void check_torch_file(const std::string& path);

// The file that the job's model is read from, if there is one. Throws FileError.
void check_model_file(const TrainJob& job);

// What the coordinator wants to know.
struct DatasetSummary {
  // After the limits; 0 for a bundle, which only the worker can read.
  int64_t train_samples = 0;
  int64_t test_samples = 0;
  int64_t classes = 0;
  std::vector<int64_t> shape;      // channels, height, width; a text's 1, 1, context
  std::vector<std::string> files;  // in the order in which they are hashed; empty for synthetic
};

// Reads everything once, beyond the limits too: a truncated file is told now, not after the first
// mode. Throws FileError, and UsageError for a limit over what the data set holds.
DatasetSummary check_dataset(const DatasetJob& job);

}  // namespace precbench::data
