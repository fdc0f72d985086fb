#include "train/simulated_gpu/attention_choice.h"

#include <ATen/Context.h>

#include <algorithm>
#include <cmath>

#include "train/simulated_gpu/capability.h"

namespace precbench::train::simulated {
namespace {

int64_t width_of(const at::Tensor& tensor) { return tensor.size(-1); }

bool is_half(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

// check_tensor_shapes, check_nonzero_sequence_lengths_dense
bool has_four_dimensions(const AttentionCall& call) {
  return call.query.dim() == 4 && call.key.dim() == 4 && call.value.dim() == 4 &&
         call.query.size(2) > 0 && call.key.size(2) > 0;
}

// check_last_dim_stride_equals_1_dense
bool has_dense_rows(const AttentionCall& call) {
  const auto is_dense = [](const at::Tensor& tensor) { return tensor.stride(-1) == 1; };
  const bool mask_is_dense = !call.mask || !call.mask->defined() || is_dense(*call.mask);
  return is_dense(call.query) && is_dense(call.key) && is_dense(call.value) && mask_is_dense;
}

bool has_mask(const AttentionCall& call) { return call.mask && call.mask->defined(); }

bool needs_gradient(const AttentionCall& call) {
  return at::GradMode::is_enabled() &&
         (call.query.requires_grad() || call.key.requires_grad() || call.value.requires_grad());
}

// check_dtypes_low_precision
bool has_half_dtype(const AttentionCall& call, int capability) {
  const at::ScalarType dtype = call.query.scalar_type();
  return dtype == at::kHalf || (dtype == at::kBFloat16 && capability >= kAmpere);
}

// can_use_flash_attention
bool can_use_flash(const AttentionCall& call, int capability) {
  const int64_t width = width_of(call.query);
  if (!at::globalContext().userEnabledFlashSDP() || capability < kAmpere) return false;
  if (has_mask(call) || !has_half_dtype(call, capability)) return false;
  if (width != width_of(call.key) || width != width_of(call.value) || width > 256) return false;
  if (call.is_causal && call.query.size(2) != call.key.size(2)) return false;
  // check_requires_grad_and_head_dim_gt192_constraints_on_sm86_89_or_120
  const bool is_narrow = capability == 86 || capability == 89 || capability >= 120;
  const bool is_wide = width > 192 && !(call.dropout == 0 && width > 224);
  return !(needs_gradient(call) && is_narrow && is_wide);
}

// minimum_gemm_alignment
int64_t alignment(const AttentionCall& call, int capability) {
  const bool uses_tensor_cores =
      capability >= kAmpere || (capability >= kVolta && is_half(call.query));
  int64_t elements = capability >= kAmpere ? 4 : 1;
  if (uses_tensor_cores) elements = std::max<int64_t>(elements, is_half(call.query) ? 8 : 4);
  return elements;
}

// can_use_mem_efficient_attention
bool can_use_efficient(const AttentionCall& call, int capability) {
  if (!at::globalContext().userEnabledMemEfficientSDP()) return false;
  const at::ScalarType dtype = call.query.scalar_type();
  const bool has_kernel = dtype == at::kHalf || dtype == at::kFloat ||
                          (dtype == at::kBFloat16 && capability >= kAmpere);
  const int64_t multiple = alignment(call, capability);
  return has_kernel && width_of(call.query) == width_of(call.key) &&
         width_of(call.query) % multiple == 0 && width_of(call.value) % multiple == 0;
}

// can_use_cudnn_attention
bool can_use_cudnn(const AttentionCall& call, int capability) {
  constexpr int64_t kLargestWidth = 128, kLargestCount = 65535;
  const at::Context& context = at::globalContext();
  if (!context.userEnabledCuDNNSDP() || capability < kAmpere) return false;
  if (context.deterministicAlgorithms() && !context.deterministicAlgorithmsWarnOnly()) return false;
  const bool dropout_is_representable = call.dropout * 16.0 == std::floor(call.dropout * 16.0);
  const int64_t width = std::max(width_of(call.query), width_of(call.value));
  return has_half_dtype(call, capability) && dropout_is_representable && width <= kLargestWidth &&
         width_of(call.query) % 8 == 0 && width_of(call.value) % 8 == 0 && call.key.size(2) != 1 &&
         call.query.size(0) <= kLargestCount && call.query.size(1) <= kLargestCount;
}

}  // namespace

// priority_order(): cuDNN comes first on Hopper and 10.x, from cuDNN 9.15.1 on (LibTorch 2.11 for
// CUDA 13 brings 9.19).
at::SDPBackend choose_attention(const AttentionCall& call, int capability) {
  if (has_four_dimensions(call) && has_dense_rows(call)) {
    const bool prefers_cudnn = capability >= kHopper && capability < 110;
    if (prefers_cudnn && can_use_cudnn(call, capability)) return at::SDPBackend::cudnn_attention;
    if (can_use_flash(call, capability)) return at::SDPBackend::flash_attention;
    if (can_use_efficient(call, capability)) return at::SDPBackend::efficient_attention;
  }
  TORCH_CHECK(at::globalContext().userEnabledMathSDP(), "No available kernel. Aborting execution.");
  return at::SDPBackend::math;
}

}  // namespace precbench::train::simulated
