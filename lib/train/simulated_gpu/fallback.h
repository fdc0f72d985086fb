// What every operation without a rule of its own does on the simulated device.
#pragma once

#include <ATen/core/stack.h>

namespace c10 {
class OperatorHandle;
}

namespace precbench::train::simulated {

// In place, or into an out= argument that has its size: the argument is the result. Else the shapes
// come from LibTorch's meta kernels, or from shape_rules.h. Throws c10::NotImplementedError naming
// an operation that none of them knows.
void run_any_operation(const c10::OperatorHandle& operation, torch::jit::Stack* stack);

}  // namespace precbench::train::simulated
