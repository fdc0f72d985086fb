// What FP8 layers (lib/train/float8) call beyond the other operations.
#include <ATen/ExpandUtils.h>

#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/kernels/traced.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

// aten/src/ATen/native/cuda/ScaledBlas.cpp, _scaled_mm_cuda. cublasLt shares cuBLAS's workspace.
at::Tensor scaled_product(const at::Tensor& left, const at::Tensor& right,
                          const at::Tensor& /*left_scale*/, const at::Tensor& /*right_scale*/,
                          const OptionalTensor& /*bias*/, const OptionalTensor& /*result_scale*/,
                          std::optional<at::ScalarType> dtype, bool /*fast_accumulation*/) {
  gpu().need_matrix_workspace();
  return new_beside(left, {left.size(0), right.size(1)}, dtype.value_or(left.scalar_type()));
}

// aten/src/ATen/native/UnaryOps.cpp, abs_out: at::abs gives it a result that has still to get its
// size. isfinite and isinf call it.
at::Tensor& absolute(const at::Tensor& input, at::Tensor& result) {
  if (result.sizes() != input.sizes()) result.resize_(input.sizes());
  return result;
}

// aten/src/ATen/native/BinaryOps.cpp, logical_and
at::Tensor& both(const at::Tensor& a, const at::Tensor& b, at::Tensor& result) {
  const auto sizes = at::infer_size(a.sizes(), b.sizes());
  if (result.sizes() != at::IntArrayRef(sizes)) result.resize_(sizes);
  return result;
}

}  // namespace

void register_float8_kernels(torch::Library& library) {
  add_kernel<&scaled_product>(library, "_scaled_mm");
  add_kernel<&absolute>(library, "abs.out");
  add_kernel<&both>(library, "logical_and.out");
}

}  // namespace precbench::train::simulated
