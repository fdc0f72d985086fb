// A user's own network: a TorchScript module that Python saved with torch.jit.script(m).save(FILE).
#pragma once

#include <memory>
#include <string>

#include "train/models/model.h"

namespace precbench::train {

// The module with the weights of the file, on the CPU; its parameters and buffers have the names
// they have in Python. Throws FileError for a file that is no such module, and UnsupportedError for
// a traced one that has BatchNorm or dropout: tracing writes down one of training and evaluation,
// so that it cannot be switched.
std::unique_ptr<Model> load_script_model(const std::string& path);

// TorchScript's interpreter turns every error within a module into a std::runtime_error. Throws
// what it was if `message` is one of those: c10::OutOfMemoryError, UnsupportedError or a
// std::runtime_error of one line.
void rethrow_script_error(const std::string& message);

}  // namespace precbench::train
