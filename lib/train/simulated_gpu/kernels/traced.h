// Registers a kernel so that the trace sees the dtypes it gets and returns.
#pragma once

#include <torch/library.h>

#include <optional>
#include <tuple>

#include "train/simulated_gpu/gpu.h"

namespace precbench::train::simulated {

inline void note_dtype(std::vector<at::ScalarType>& dtypes, const at::Tensor& tensor) {
  if (tensor.defined()) dtypes.push_back(tensor.scalar_type());
}
inline void note_dtype(std::vector<at::ScalarType>& dtypes,
                       const std::optional<at::Tensor>& tensor) {
  if (tensor) note_dtype(dtypes, *tensor);
}
template <typename Other>
void note_dtype(std::vector<at::ScalarType>& /*dtypes*/, const Other& /*no tensor*/) {}
template <typename... Parts>
void note_dtype(std::vector<at::ScalarType>& dtypes, const std::tuple<Parts...>& parts) {
  std::apply([&](const auto&... part) { (note_dtype(dtypes, part), ...); }, parts);
}

// One type for each kernel function, which must not be registered under two names.
template <auto kKernel>
struct Traced;

template <typename Result, typename... Arguments, Result (*kKernel)(Arguments...)>
struct Traced<kKernel> {
  inline static std::string name;

  static Result call(Arguments... arguments) {
    if (!gpu().trace().is_on()) return kKernel(arguments...);
    TracedOperation traced{name, {}, {}};
    (note_dtype(traced.inputs, arguments), ...);
    Result result = kKernel(arguments...);
    note_dtype(traced.outputs, result);
    gpu().trace().add(std::move(traced));
    return result;
  }
};

template <auto kKernel>
void add_kernel(torch::Library& library, const char* name) {
  Traced<kKernel>::name = std::string("aten::") + name;
  library.impl(name, &Traced<kKernel>::call);
}

}  // namespace precbench::train::simulated
