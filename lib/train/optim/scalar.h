// A scalar as the second operand of a multiplication.
#pragma once

#include <ATen/ScalarOps.h>

#include "train/base/torch.h"

namespace precbench::train {

// Python's `t.mul_(0.9)`. The C++ overload mul_(Scalar) makes the scalar the first operand, and the
// half formats' kernels round a first operand to the tensor's dtype (0.9 becomes 0.8984 in bf16); a
// wrapped number as second operand keeps its precision.
inline torch::Tensor& multiply_in_place(torch::Tensor& tensor, double factor) {
  return tensor.mul_(at::native::wrapped_scalar_tensor(factor));
}

}  // namespace precbench::train
