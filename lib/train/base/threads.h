// Threads of LibTorch's own operations.
#pragma once

#include <cstdint>

namespace precbench::train {

// For this process, before its first operation in more than one thread. The first call of MKL's
// vector functions (sqrt, exp, log, ... of a tensor) chooses their kernels for the whole process,
// and is no safe one to make in two threads at once: in about 2 % of processes one of the threads
// got functions of lower accuracy for that call (relative error 3e-11 in float64), so that the same
// job gave other weights. So one thread makes it here. MKL 2024.2, as in the wheels of PyTorch
// 2.11; docs/fidelity.md has the figures.
void use_threads(int64_t threads);

}  // namespace precbench::train
