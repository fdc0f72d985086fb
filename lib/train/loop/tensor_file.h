// Dictionaries of tensors in PyTorch's file format, as torch.save writes them. Nothing in the file
// is executed.
#pragma once

#include <map>
#include <string>

#include "train/torch.h"

namespace precbench::train {

// Throws FileError for a file that is missing, damaged or holds something else; `advice` is its
// last line.
std::map<std::string, torch::Tensor> read_tensors(
    const std::string& path,
    const std::string& advice = "save a dictionary of tensors with torch.save(DICTIONARY, FILE)");

}  // namespace precbench::train
