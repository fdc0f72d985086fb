// Which attention kernel LibTorch takes on a card: the rules of
// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp for dense tensors.
#pragma once

#include <ATen/native/transformers/attention.h>

#include "train/base/torch.h"

namespace precbench::train::simulated {

struct AttentionCall {
  at::Tensor query, key, value;  // [batch, heads, length, width]
  std::optional<at::Tensor> mask;
  double dropout = 0;
  bool is_causal = false;
};

// `capability` is major * 10 + minor. The switches of at::globalContext() count.
at::SDPBackend choose_attention(const AttentionCall& call, int capability);

}  // namespace precbench::train::simulated
