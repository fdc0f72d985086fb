#include "train/simulated_gpu/fallback.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "train/simulated_gpu/gpu.h"
#include "train/simulated_gpu/kernel_cost.h"
#include "train/simulated_gpu/meta_call.h"
#include "train/simulated_gpu/shape_rules.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

std::string full_name(const c10::FunctionSchema& schema) {
  if (schema.overload_name().empty()) return schema.name();
  return schema.name() + "." + schema.overload_name();
}

// at::cuda::getCurrentCUDABlasHandle() is called for these (aten/src/ATen/native/cuda/Blas.cpp and
// LinearAlgebra.cpp).
bool is_matrix_product(std::string_view name) {
  constexpr std::array<std::string_view, 8> kProducts = {
      "aten::mm.out",  "aten::addmm.out",   "aten::_addmm_activation.out",
      "aten::bmm.out", "aten::baddbmm.out", "aten::addmv.out",
      "aten::addbmm",  "aten::dot"};
  return std::find(kProducts.begin(), kProducts.end(), name) != kProducts.end();
}

// The arguments that the operation writes to, if they are all it returns and none of them has still
// to get its size.
std::optional<std::vector<c10::IValue>> results_in_place(const c10::FunctionSchema& schema,
                                                         const torch::jit::Stack& stack) {
  for (const c10::Argument& result : schema.returns()) {
    if (result.alias_info() == nullptr || !result.alias_info()->isWrite()) return std::nullopt;
  }
  std::vector<c10::IValue> written;
  const auto& arguments = schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* alias = arguments[i].alias_info();
    if (alias == nullptr || !alias->isWrite()) continue;
    const c10::IValue& value = stack[stack.size() - arguments.size() + i];
    const bool is_unsized =
        arguments[i].is_out() && value.isTensor() && value.toTensor().numel() == 0;
    if (is_unsized) return std::nullopt;
    written.push_back(value);
  }
  written.resize(std::min(written.size(), schema.returns().size()));
  if (written.size() < schema.returns().size()) return std::nullopt;
  return written;
}

void note_dtypes(const c10::IValue& value, std::vector<at::ScalarType>& dtypes) {
  for_each_tensor(value, [&](const at::Tensor& tensor) { dtypes.push_back(tensor.scalar_type()); });
}

// What the operation reads: its tensors without those that it only writes.
Tensors inputs_of(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  Tensors inputs;
  const auto& arguments = schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_out()) continue;
    for_each_tensor(stack[stack.size() - arguments.size() + i],
                    [&](const at::Tensor& tensor) { inputs.push_back(tensor); });
  }
  return inputs;
}

Tensors outputs_of(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  Tensors outputs;
  for (const c10::IValue& value : torch::jit::last(stack, schema.returns().size())) {
    for_each_tensor(value, [&](const at::Tensor& tensor) { outputs.push_back(tensor); });
  }
  return outputs;
}

// Whether all results are views of arguments, which no kernel makes.
bool are_views(const Tensors& inputs, const Tensors& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [&](const at::Tensor& output) {
    return std::any_of(inputs.begin(), inputs.end(), [&](const at::Tensor& input) {
      return output.storage().is_alias_of(input.storage());
    });
  });
}

// In-place operations return what they wrote, or nothing at all (some of _foreach_*).
void note_kernel(const c10::FunctionSchema& schema, const std::string& name, const Tensors& inputs,
                 const Tensors& outputs) {
  const bool writes = schema.is_mutable();
  if (!writes && are_views(inputs, outputs)) return;
  launch(name, inputs, writes && outputs.empty() ? inputs : outputs);
}

void run(const c10::OperatorHandle& operation, const std::string& name, torch::jit::Stack& stack) {
  const c10::FunctionSchema& schema = operation.schema();
  if (auto written = results_in_place(schema, stack)) {
    torch::jit::drop(stack, schema.arguments().size());
    for (c10::IValue& value : *written) stack.push_back(std::move(value));
    return;
  }
  if (const ShapeRule* rule = find_shape_rule(name)) {
    const at::Tensor result = apply(*rule, schema, stack);
    torch::jit::drop(stack, schema.arguments().size());
    stack.emplace_back(result);
    return;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      has_shape_kernel(operation), "the simulated GPU does not know ", name,
      ": it has no rule for the shape of what this operation returns; measure "
      "this model on a card");
  call_on_meta(operation, stack);
}

}  // namespace

void run_any_operation(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = operation.schema();
  const std::string name = full_name(schema);
  const bool is_traced = gpu().trace().is_on();
  TracedOperation traced{name, {}, {}};
  if (is_traced) {
    for (const c10::IValue& value : torch::jit::last(*stack, schema.arguments().size())) {
      note_dtypes(value, traced.inputs);
    }
  }
  if (is_matrix_product(name)) {
    try {
      gpu().need_matrix_workspace();
    } catch (const OutOfMemory& error) {
      TORCH_CHECK_WITH(OutOfMemoryError, false, error.what());
    }
  }
  const Tensors inputs = inputs_of(schema, *stack);
  run(operation, name, *stack);
  note_kernel(schema, name, inputs, outputs_of(schema, *stack));
  if (!is_traced) return;
  for (const c10::IValue& value : torch::jit::last(*stack, schema.returns().size())) {
    note_dtypes(value, traced.outputs);
  }
  gpu().trace().add(std::move(traced));
}

}  // namespace precbench::train::simulated
