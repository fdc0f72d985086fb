// What an operation costs by its shapes.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>

namespace precbench::train {

// Floating-point operations of one call of an ATen operation below autograd: matrix products,
// convolutions and attention, forward and backward, a multiplication with its addition as two; 0
// for all others, whose share of a network's is small. A causal attention counts in full, as in
// torch.utils.flop_counter.
double operation_flops(std::string_view operation, c10::ArrayRef<const c10::IValue> inputs);

}  // namespace precbench::train
