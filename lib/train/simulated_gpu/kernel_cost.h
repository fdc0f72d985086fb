// What an operation does, from its name and the shapes of its tensors.
#pragma once

#include <string_view>
#include <vector>

#include "train/simulated_gpu/timeline.h"

namespace precbench::train::simulated {

using Tensors = std::vector<at::Tensor>;

// `inputs` and `outputs` as the kernel gets and leaves them; a tensor in both counts twice, being
// read and written. `transposed` and others of a convolution's settings do not matter: its
// floating-point operations follow from the shapes.
Kernel kernel_of(std::string_view operation, const Tensors& inputs, const Tensors& outputs);

// Puts it on the card's timeline, unless all of it happens elsewhere (weightless tensors).
void launch(std::string_view operation, const Tensors& inputs, const Tensors& outputs);

// Of a tensor as a kernel sees it: an expanded dimension is read once.
int64_t touched_bytes(const at::Tensor& tensor);

// Of a convolution from `input` to `output`, counting padding as the rest; both gradients take the
// same each. `stride` tells how much neighbouring outputs share, which is what Winograd's and FFT
// algorithms save.
Kernel convolution_kernel(const at::Tensor& input, const at::Tensor& weight,
                          const at::Tensor& output);

}  // namespace precbench::train::simulated
