// What TorchScript would do to a module besides running it.
#pragma once

#include <torch/script.h>

namespace precbench::train {

// Before the module runs for the first time: without TorchScript's own autocast pass, since
// autocast acts on its operations as on those of any module (and the pass dereferences null where
// an operation gets an optional tensor that is not there, as attention does), and without the fused
// operations that nn.TransformerEncoderLayer and nn.MultiheadAttention take in evaluation alone:
// evaluation computes as training does.
void compute_as_eager_modules(const torch::jit::Module& module);

}  // namespace precbench::train
