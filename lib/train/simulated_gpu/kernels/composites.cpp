#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <string>

#include "train/simulated_gpu/fallback.h"
#include "train/simulated_gpu/kernels/kernels.h"

namespace precbench::train::simulated {
namespace {

// native_functions.yaml: every operation with `CUDA:` and `CompositeExplicitAutograd:` or
// `CompositeImplicitAutograd:`; all of _foreach_* belong to them, and native_layer_norm,
// native_group_norm, _fused_rms_norm and mish_backward have rules of their own.
// convolution_backward is not here: its CUDA kernel is the composite one.
constexpr std::array<const char*, 10> kOthers = {
    "addr",       "addr.out",       "all.dims_out", "any.dims_out",   "mish_backward",
    "_chunk_cat", "_chunk_cat.out", "_grouped_mm",  "linalg__powsum", "split_with_sizes_copy.out"};

}  // namespace

void register_instead_of_composites(torch::Library& library) {
  const auto add = [&library](const std::string& name) {
    library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&run_any_operation>());
  };
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  constexpr std::string_view kForeach = "aten::_foreach_";
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (!name.name.starts_with(kForeach) || name.overload_name.find("out") != std::string::npos) {
      continue;
    }
    add(name.overload_name.empty() ? name.name : name.name + "." + name.overload_name);
  }
  for (const char* name : kOthers) {
    const std::string full = std::string("aten::") + name;
    const size_t dot = full.find('.');
    const c10::OperatorName operation(full.substr(0, dot),
                                      dot == std::string::npos ? "" : full.substr(dot + 1));
    // Not every release of LibTorch has all of them.
    if (dispatcher.findSchema(operation)) add(full);
  }
}

}  // namespace precbench::train::simulated
