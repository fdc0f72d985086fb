// Reductions without a meta kernel (aten/src/ATen/native/ReduceOps.cpp).
#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/kernels/traced.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

std::vector<int64_t> reduced_sizes(const at::Tensor& input, at::OptionalIntArrayRef dims,
                                   bool keepdim) {
  std::vector<bool> is_reduced(static_cast<size_t>(input.dim()), !dims || dims->empty());
  if (dims) {
    for (const int64_t dim : *dims) {
      is_reduced[static_cast<size_t>(dim < 0 ? dim + input.dim() : dim)] = true;
    }
  }
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < input.dim(); ++i) {
    if (!is_reduced[static_cast<size_t>(i)]) {
      sizes.push_back(input.size(i));
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

using Correction = std::optional<at::Scalar>;

at::Tensor variance(const at::Tensor& input, at::OptionalIntArrayRef dims, const Correction&,
                    bool keepdim) {
  return new_beside(input, reduced_sizes(input, dims, keepdim));
}

at::Tensor deviation(const at::Tensor& input, at::OptionalIntArrayRef dims,
                     const Correction& correction, bool keepdim) {
  return variance(input, dims, correction, keepdim);
}

using Two = std::tuple<at::Tensor, at::Tensor>;

Two variance_and_mean(const at::Tensor& input, at::OptionalIntArrayRef dims, const Correction&,
                      bool keepdim) {
  const auto sizes = reduced_sizes(input, dims, keepdim);
  at::Tensor first = new_beside(input, sizes);
  return {first, new_beside(input, sizes)};
}

Two deviation_and_mean(const at::Tensor& input, at::OptionalIntArrayRef dims,
                       const Correction& correction, bool keepdim) {
  return variance_and_mean(input, dims, correction, keepdim);
}

// Integers and bools add up and multiply in int64.
at::ScalarType sum_dtype(const at::Tensor& input, std::optional<at::ScalarType> dtype) {
  if (dtype) return *dtype;
  return at::isIntegralType(input.scalar_type(), /*includeBool=*/true) ? at::kLong
                                                                       : input.scalar_type();
}

at::Tensor product(const at::Tensor& input, std::optional<at::ScalarType> dtype) {
  return new_beside(input, {}, sum_dtype(input, dtype));
}

at::Tensor sum_without_nan(const at::Tensor& input, at::OptionalIntArrayRef dims, bool keepdim,
                           std::optional<at::ScalarType> dtype) {
  return new_beside(input, reduced_sizes(input, dims, keepdim), sum_dtype(input, dtype));
}

at::Tensor nonzero_count(const at::Tensor& input, at::IntArrayRef dims) {
  return new_beside(input, reduced_sizes(input, dims, /*keepdim=*/false), at::kLong);
}

}  // namespace

void register_reductions(torch::Library& library) {
  add_kernel<&variance>(library, "var.correction");
  add_kernel<&deviation>(library, "std.correction");
  add_kernel<&variance_and_mean>(library, "var_mean.correction");
  add_kernel<&deviation_and_mean>(library, "std_mean.correction");
  add_kernel<&product>(library, "prod");
  add_kernel<&sum_without_nan>(library, "nansum");
  add_kernel<&nonzero_count>(library, "count_nonzero.dim_IntList");
}

}  // namespace precbench::train::simulated
