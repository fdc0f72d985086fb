// State dictionaries in PyTorch's own file format, for --init-weights and --save-weights: what
// Python's torch.save(model.state_dict(), FILE) writes is read, and torch.load(FILE,
// weights_only=True) reads what is written.
#pragma once

#include <string>

#include "train/base/torch.h"

namespace precbench::train {

// Writes all parameters and buffers under their names, in their dtypes, from the host. Throws
// FileError.
void save_weights(const torch::nn::Module& module, const std::string& path);

// Throws FileError where save_weights() would fail to open the file. Leaves an existing file as it
// is.
void require_writable(const std::string& path);

// Copies the file's tensors into the module's parameters and buffers, converting dtypes. As
// load_state_dict with strict=True: throws FileError naming what is missing, not expected or of
// another shape, and for a file that is no such dictionary; the module is then as before.
void load_weights(torch::nn::Module& module, const std::string& path);

// Copies what the file has of FP8 scales and histories into the module's Float8Layers, where
// --save-weights left them; load_weights() passes them over. A file without any changes nothing.
// Throws FileError where a history has another length.
void load_float8_state(torch::nn::Module& module, const std::string& path);

}  // namespace precbench::train
