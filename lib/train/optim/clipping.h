// Gradient clipping, as torch.nn.utils.clip_grad_norm_ and clip_grad_value_.
#pragma once

#include <stdexcept>
#include <vector>

#include "train/base/torch.h"

namespace precbench::train {

// error_if_nonfinite was set and the norm is not finite; the text is PyTorch's.
class NonFiniteNormError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Scales the gradients so that their 2-norm, taken as one vector, is at most max_norm. Returns the
// norm before (a scalar on the device; no synchronisation unless error_if_nonfinite).
torch::Tensor clip_gradients_by_norm(const std::vector<torch::Tensor>& parameters, double max_norm,
                                     bool error_if_nonfinite);

// Clamps every gradient element to [-clip_value, clip_value].
void clip_gradients_by_value(const std::vector<torch::Tensor>& parameters, double clip_value);

}  // namespace precbench::train
