// The mode table's number formats as LibTorch's scalar types, and back to PyTorch's names.
#pragma once

#include <string>

#include "common/dtype.h"
#include "train/base/torch.h"

namespace precbench::train {

inline at::ScalarType scalar_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64:
      return at::kDouble;
    case Dtype::float32:
      return at::kFloat;
    case Dtype::float16:
      return at::kHalf;
    case Dtype::bfloat16:
      return at::kBFloat16;
    case Dtype::float8:
      return at::kFloat8_e4m3fn;
  }
  return at::kFloat;
}

// "float32", "bfloat16", ...: the names that PyTorch prints after "torch.".
inline std::string dtype_name(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return "float64";
    case at::kFloat:
      return "float32";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    case at::kFloat8_e4m3fn:
    case at::kFloat8_e5m2:
      return "float8";
    case at::kLong:
      return "int64";
    case at::kInt:
      return "int32";
    case at::kShort:
      return "int16";
    case at::kChar:
      return "int8";
    case at::kByte:
      return "uint8";
    case at::kBool:
      return "bool";
    default:
      return c10::toString(type);
  }
}

}  // namespace precbench::train
