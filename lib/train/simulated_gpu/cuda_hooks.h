// What LibTorch asks of CUDA before it chooses a kernel: whether cuDNN is there, and what it can do
// on this card.
#pragma once

namespace precbench::train::simulated {

// Registers the hooks; to be called before ATen asks for CUDA, which it does once.
void register_cuda_hooks();

}  // namespace precbench::train::simulated
