// The number formats that precision modes are made of, under PyTorch's names.
#pragma once

#include <string_view>

namespace precbench {

enum class Dtype { float64, float32, float16, bfloat16, float8 };

constexpr std::string_view name_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64:
      return "float64";
    case Dtype::float32:
      return "float32";
    case Dtype::float16:
      return "float16";
    case Dtype::bfloat16:
      return "bfloat16";
    case Dtype::float8:
      return "float8";
  }
  return "unknown";
}

}  // namespace precbench
