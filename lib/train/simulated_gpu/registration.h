// Makes the simulated card LibTorch's CUDA device.
#pragma once

namespace precbench::train::simulated {

// Once per process, before the first ATen call that asks for CUDA. Throws DeviceError in a process
// that has loaded LibTorch's real CUDA side: both would answer for the same dispatch key.
void register_simulated_gpu();

}  // namespace precbench::train::simulated
