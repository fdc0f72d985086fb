// Initialisations that LibTorch's C++ lacks.
#pragma once

#include "train/base/torch.h"

namespace precbench::train {

// torch.nn.init.trunc_normal_(tensor, std=std) with mean 0 and the default cut at -2 and 2 (not at
// two standard deviations), operation by operation, so that the same seed draws the same numbers.
void trunc_normal_(torch::Tensor tensor, double std);

}  // namespace precbench::train
