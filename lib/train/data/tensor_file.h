// Dictionaries of tensors in PyTorch's file format, as torch.save writes them. Nothing in the file
// is executed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/base/torch.h"

namespace precbench::train {

// Throws FileError for a file that is missing, damaged or holds something else; `advice` is its
// last line. `wanted` as parse_state_pickle's.
std::map<std::string, torch::Tensor> read_tensors(const std::string& path,
                                                  const std::string& advice,
                                                  const std::vector<std::string>& wanted = {});

// Whether torch.jit.save wrote it: a module, which may still be damaged.
bool is_script_file(const std::string& path);

// What a file is that is no TorchScript module: "holds a state dictionary", "holds a
// __main__.Net", ...
std::string what_it_holds(const std::string& path);

}  // namespace precbench::train
