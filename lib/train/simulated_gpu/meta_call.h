// Runs an operation on LibTorch's meta device to learn the shapes and dtypes of its results, and
// makes those on the simulated device.
#pragma once

#include <ATen/core/stack.h>

#include <functional>
#include <unordered_map>
#include <vector>

#include "train/base/torch.h"

namespace c10 {
class OperatorHandle;
}

namespace precbench::train::simulated {

// Whether the operation can run on the meta device: by a meta kernel of its own or a composite one.
// (hasComputedKernelForDispatchKey is always true: Meta has a fallback that throws.)
bool has_shape_kernel(const c10::OperatorHandle& operation);

// Replaces the arguments on the stack by the results. Results that are arguments or views of them
// are those again; others are new.
void call_on_meta(const c10::OperatorHandle& operation, torch::jit::Stack& stack);

// Calls back with every defined tensor in the value, also in lists.
void for_each_tensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& visit);

}  // namespace precbench::train::simulated
