// Whether a TorchScript module can be switched between training and evaluation.
#pragma once

#include <torch/script.h>

#include <optional>
#include <string>

namespace precbench::train {

// The reason why not, as the end of a sentence about the module; nothing for one that can be, or
// that has nothing to switch.
std::optional<std::string> cannot_switch(const torch::jit::Module& module);

}  // namespace precbench::train
