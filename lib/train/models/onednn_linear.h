// A linear layer whose fp32 matrix products run in oneDNN, forward and backward.
#pragma once

#include "train/base/torch.h"

namespace precbench::train {

// input [.., in], weight [out, in], bias [out] or undefined, all float32 on the CPU -> [.., out].
torch::Tensor onednn_linear(const torch::Tensor& input, const torch::Tensor& weight,
                            const torch::Tensor& bias);

// Whether this LibTorch has the kernel.
bool has_onednn_linear();

}  // namespace precbench::train
