// The fused attention kernels. Shapes of results: torch/_meta_registrations.py; memory that the
// kernels take for themselves: aten/src/ATen/native/transformers/cuda/attention_backward.cu and
// flash_attn/flash_api.cpp. Where none of them can be used, LibTorch runs its composite
// _scaled_dot_product_attention_math, which is simulated operation by operation.
#include <array>

#include "train/simulated_gpu/attention_choice.h"
#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/kernels/traced.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

using OptionalTensor = std::optional<at::Tensor>;
using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Four = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
using FlashResult = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt,
                               c10::SymInt, at::Tensor, at::Tensor, at::Tensor>;

constexpr int64_t kFloatBytes = 4;

int64_t padded(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

int64_t choose(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
               const OptionalTensor& mask, double dropout, bool is_causal,
               std::optional<double> /*scale*/, bool /*enable_gqa*/) {
  return static_cast<int64_t>(
      choose_attention({query, key, value, mask, dropout, is_causal}, gpu().capability()));
}

// [batch, heads, length, width], laid out as [batch, length, heads, width]: what the kernels make.
at::Tensor heads_inside(const at::Tensor& like, int64_t width) {
  return new_beside(like, {like.size(0), like.size(2), like.size(1), width}).transpose(1, 2);
}

at::Tensor seed_or_offset(const at::Tensor& beside) { return new_beside(beside, {}, at::kLong); }

// _scaled_dot_product_efficient_attention_cuda
Four efficient(const at::Tensor& query, const at::Tensor& /*key*/, const at::Tensor& value,
               const OptionalTensor& /*mask*/, bool keeps_logsumexp, double /*dropout*/,
               bool /*is_causal*/, std::optional<double> /*scale*/) {
  constexpr int64_t kLseAlignment = 32;
  const int64_t rows = keeps_logsumexp ? padded(query.size(2), kLseAlignment) : 0;
  at::Tensor output = heads_inside(query, value.size(3));
  at::Tensor logsumexp = new_beside(query, {query.size(0), query.size(1), rows}, at::kFloat);
  at::Tensor seed = seed_or_offset(query);
  return {output, logsumexp, seed, seed_or_offset(query)};
}

// _efficient_attention_backward: q, k and v that are views of one packed tensor get gradients that
// are views of one, too. `delta` is a float for each row; a query gradient that is not float32 is
// accumulated in a float32 workspace.
Four efficient_backward(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
                        const at::Tensor& value, const at::Tensor& /*mask*/,
                        const at::Tensor& /*output*/, const at::Tensor& /*logsumexp*/,
                        const at::Tensor& /*seed*/, const at::Tensor& /*offset*/,
                        double /*dropout*/, std::array<bool, 4> /*mask*/, bool /*is_causal*/,
                        std::optional<double> /*scale*/) {
  if (!gradient.defined()) return {};
  const int64_t batch = query.size(0), heads = query.size(1), length = query.size(2);
  at::Tensor of_query, of_key, of_value;
  const bool is_packed = length == key.size(2) && query.size(3) == value.size(3) &&
                         query.storage().is_alias_of(key.storage()) &&
                         query.storage().is_alias_of(value.storage());
  if (is_packed) {
    const at::Tensor packed = new_beside(query, {batch, length, 3, heads, query.size(3)});
    of_query = packed.select(2, 0).transpose(1, 2);
    of_key = packed.select(2, 1).transpose(1, 2);
    of_value = packed.select(2, 2).transpose(1, 2);
  } else {
    of_query = heads_inside(query, query.size(3));
    of_key = heads_inside(key, key.size(3));
    of_value = heads_inside(value, value.size(3));
  }
  const int64_t delta = batch * heads * length * kFloatBytes;
  const bool accumulates = query.scalar_type() != at::kFloat;
  take_scratch(query, {delta, accumulates ? query.numel() * kFloatBytes : 0});
  return {of_query, of_key, of_value, at::Tensor()};
}

// _scaled_dot_product_flash_attention_cuda
FlashResult flash(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                  double /*dropout*/, bool /*is_causal*/, bool /*debug_mask*/,
                  std::optional<double> /*scale*/) {
  at::Tensor output = heads_inside(query, value.size(3));
  at::Tensor logsumexp =
      new_beside(query, {query.size(0), query.size(1), query.size(2)}, at::kFloat);
  at::Tensor seed = new_beside(query, {2}, at::kLong);
  at::Tensor offset = seed_or_offset(query);
  return {output,      logsumexp, at::Tensor(), at::Tensor(),          query.size(2),
          key.size(2), seed,      offset,       new_beside(query, {0})};
}

// mha_bwd: softmax_d and the float32 accumulator of the query's gradient, in blocks of 128 rows and
// 32 columns (64 above 128).
int64_t flash_scratch(const at::Tensor& query, int64_t columns) {
  constexpr int64_t kRows = 128;
  return query.size(0) * query.size(1) * padded(query.size(2), kRows) * columns * kFloatBytes;
}

Three fused_backward(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  Three results = {heads_inside(query, query.size(3)), heads_inside(key, key.size(3)),
                   heads_inside(value, value.size(3))};
  const int64_t width = padded(query.size(3), query.size(3) <= 128 ? 32 : 64);
  take_scratch(query, {flash_scratch(query, 1), flash_scratch(query, width)});
  return results;
}

Three flash_backward(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
                     const at::Tensor& value, const at::Tensor& /*output*/,
                     const at::Tensor& /*logsumexp*/, const at::Tensor& /*cum_seq_q*/,
                     const at::Tensor& /*cum_seq_k*/, c10::SymInt /*max_q*/, c10::SymInt /*max_k*/,
                     double /*dropout*/, bool /*is_causal*/, const at::Tensor& /*seed*/,
                     const at::Tensor& /*offset*/, std::optional<double> /*scale*/) {
  if (!gradient.defined()) return {};
  return fused_backward(query, key, value);
}

// aten/src/ATen/native/transformers/cuda/attention.cu and cudnn/MHA.cpp: the output has the
// query's layout.
FlashResult cudnn(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                  const OptionalTensor& /*mask*/, bool /*keeps_logsumexp*/, double /*dropout*/,
                  bool /*is_causal*/, bool /*debug_mask*/, std::optional<double> /*scale*/) {
  at::Tensor output = heads_inside(query, value.size(3));
  at::Tensor logsumexp =
      new_beside(query, {query.size(0), query.size(1), query.size(2), 1}, at::kFloat);
  at::Tensor seed = seed_or_offset(query);
  at::Tensor offset = seed_or_offset(query);
  return {output,      logsumexp, at::Tensor(), at::Tensor(), query.size(2),
          key.size(2), seed,      offset,       at::Tensor()};
}

// Its workspace is cuDNN's own; taken to be that of the same algorithm in flash attention.
Three cudnn_backward(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
                     const at::Tensor& value, const at::Tensor& /*output*/,
                     const at::Tensor& /*logsumexp*/, const at::Tensor& /*seed*/,
                     const at::Tensor& /*offset*/, const at::Tensor& /*mask*/,
                     const at::Tensor& /*cum_seq_q*/, const at::Tensor& /*cum_seq_k*/,
                     c10::SymInt /*max_q*/, c10::SymInt /*max_k*/, double /*dropout*/,
                     bool /*is_causal*/, std::optional<double> /*scale*/) {
  if (!gradient.defined()) return {};
  return fused_backward(query, key, value);
}

}  // namespace

void register_attention(torch::Library& library) {
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose);
  add_kernel<&efficient>(library, "_scaled_dot_product_efficient_attention");
  add_kernel<&efficient_backward>(library, "_scaled_dot_product_efficient_attention_backward");
  add_kernel<&flash>(library, "_scaled_dot_product_flash_attention");
  add_kernel<&flash_backward>(library, "_scaled_dot_product_flash_attention_backward");
  add_kernel<&cudnn>(library, "_scaled_dot_product_cudnn_attention");
  add_kernel<&cudnn_backward>(library, "_scaled_dot_product_cudnn_attention_backward");
}

}  // namespace precbench::train::simulated
