// Registers a kernel so that the trace sees the dtypes it gets and returns.
#pragma once

#include <torch/library.h>

#include <optional>
#include <tuple>

#include "train/simulated_gpu/gpu.h"
#include "train/simulated_gpu/kernel_cost.h"

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

inline void note_tensor(Tensors& tensors, const at::Tensor& tensor) {
  if (tensor.defined()) tensors.push_back(tensor);
}
inline void note_tensor(Tensors& tensors, const std::optional<at::Tensor>& tensor) {
  if (tensor) note_tensor(tensors, *tensor);
}
template <typename Other>
void note_tensor(Tensors& /*tensors*/, const Other& /*no tensor*/) {}
template <typename... Parts>
void note_tensor(Tensors& tensors, const std::tuple<Parts...>& parts) {
  std::apply([&](const auto&... part) { (note_tensor(tensors, part), ...); }, parts);
}

// One type for each kernel function, which must not be registered under two names. Some put their
// work on the card's timeline themselves: convolutions and copies.
enum class Launch { by_name, by_itself };

template <auto kKernel, Launch kLaunch>
struct Traced;

template <typename Result, typename... Arguments, Result (*kKernel)(Arguments...), Launch kLaunch>
struct Traced<kKernel, kLaunch> {
  inline static std::string name;

  static Result call(Arguments... arguments) {
    Tensors inputs, outputs;
    (note_tensor(inputs, arguments), ...);
    TracedOperation traced{name, {}, {}};
    if (gpu().trace().is_on()) (note_dtype(traced.inputs, arguments), ...);
    Result result = kKernel(arguments...);
    note_tensor(outputs, result);
    if constexpr (kLaunch == Launch::by_name) launch(name, inputs, outputs);
    if (!gpu().trace().is_on()) return result;
    note_dtype(traced.outputs, result);
    gpu().trace().add(std::move(traced));
    return result;
  }
};

template <auto kKernel, Launch kLaunch = Launch::by_name>
void add_kernel(torch::Library& library, const char* name) {
  Traced<kKernel, kLaunch>::name = std::string("aten::") + name;
  library.impl(name, &Traced<kKernel, kLaunch>::call);
}

}  // namespace precbench::train::simulated
