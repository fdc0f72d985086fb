// What a number format does on this device, found out by computing in it.
#pragma once

#include "common/json_fields.h"
#include "train/base/torch.h"

namespace precbench::train {

// {max, smallest_normal, smallest_subnormal, epsilon, overflow: "inf" | "nan" | "max",
// flushes_subnormals, gemm_error_ulp, gemm_accumulates: "wider" | "same", unknown}. max: the
// largest finite number; epsilon: the distance from 1 to the next number; gemm_error_ulp: the
// largest error of a product's element, in units of the format's epsilon relative to the element:
// at most 0.5 where the sum is rounded once, which only a wider accumulator does.
json number_properties(torch::Device device, at::ScalarType type);

}  // namespace precbench::train
