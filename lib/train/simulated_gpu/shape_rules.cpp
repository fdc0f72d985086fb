#include "train/simulated_gpu/shape_rules.h"

#include <ATen/ExpandUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>

#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

// Only operations that were looked up in PyTorch stand here: a rule guessed from a name or a tag
// would size results wrongly where the dtype changes (isnan).
constexpr std::array kRules = {
    // aten/src/ATen/native/Activation.cpp, Dropout.cpp
    ShapeRule{"aten::relu", Shape::like, "self"},
    ShapeRule{"aten::hardswish", Shape::like, "self"},
    ShapeRule{"aten::hardswish_backward", Shape::like, "self"},
    ShapeRule{"aten::hardtanh", Shape::like, "self"},
    ShapeRule{"aten::hardtanh_backward", Shape::like, "self"},
    ShapeRule{"aten::mish_backward", Shape::like, "self"},
    ShapeRule{"aten::glu_backward", Shape::like, "self"},
    ShapeRule{"aten::log_sigmoid_backward", Shape::like, "self"},
    ShapeRule{"aten::_prelu_kernel", Shape::like, "self"},
    ShapeRule{"aten::logit", Shape::like, "self"},
    ShapeRule{"aten::native_dropout_backward", Shape::like, "grad_output"},
    ShapeRule{"aten::_masked_scale", Shape::like, "self"},
    // UnaryOps.cpp, TensorTransformations.cpp, TensorCompare.cpp, BinaryOps.cpp
    ShapeRule{"aten::isnan", Shape::like_bool, "self"},
    ShapeRule{"aten::logical_not.out", Shape::out_like, "self"},
    ShapeRule{"aten::flip", Shape::like, "self"},
    ShapeRule{"aten::roll", Shape::like, "self"},
    ShapeRule{"aten::where.self", Shape::broadcast, ""},
    ShapeRule{"aten::floor_divide", Shape::broadcast, ""},
    ShapeRule{"aten::remainder.Scalar_Tensor", Shape::like, "other"},
    // ReduceAllOps.cpp, Blas.cpp
    ShapeRule{"aten::max", Shape::scalar, "self"},
    ShapeRule{"aten::min", Shape::scalar, "self"},
    ShapeRule{"aten::median", Shape::scalar, "self"},
    ShapeRule{"aten::trace", Shape::scalar, "self"},
    ShapeRule{"aten::dot", Shape::scalar, "self"},
    ShapeRule{"aten::vdot", Shape::scalar, "self"},
    // Loss.cpp: gradients with respect to `self`
    ShapeRule{"aten::mse_loss_backward", Shape::like, "self"},
    ShapeRule{"aten::binary_cross_entropy_backward", Shape::like, "self"},
    ShapeRule{"aten::nll_loss2d_backward", Shape::like, "self"},
    // AdaptiveAveragePooling.cpp, ReflectionPad.cpp, ReplicationPadding.cpp, DilatedMaxPool3d.cpp
    ShapeRule{"aten::_adaptive_avg_pool2d_backward", Shape::like, "self"},
    ShapeRule{"aten::_adaptive_avg_pool3d_backward", Shape::like, "self"},
    ShapeRule{"aten::reflection_pad2d_backward", Shape::like, "self"},
    ShapeRule{"aten::replication_pad2d_backward", Shape::like, "self"},
    ShapeRule{"aten::replication_pad3d_backward", Shape::like, "self"},
    ShapeRule{"aten::max_pool3d_with_indices_backward", Shape::like, "self"},
};

// The arguments that are tensors, a named one alone or all.
std::vector<at::Tensor> tensor_arguments(const ShapeRule& rule, const c10::FunctionSchema& schema,
                                         const torch::jit::Stack& stack) {
  std::vector<at::Tensor> tensors;
  const auto& arguments = schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::IValue& value = stack[stack.size() - arguments.size() + i];
    const bool is_wanted = rule.argument.empty() || arguments[i].name() == rule.argument;
    if (is_wanted && value.isTensor() && value.toTensor().defined()) {
      tensors.push_back(value.toTensor());
    }
  }
  TORCH_CHECK(!tensors.empty(), "the simulated GPU's rule for ", rule.operation,
              " finds no argument '", std::string(rule.argument), "'");
  return tensors;
}

// A bool condition does not count: where(bool, float, float) is float.
at::Tensor broadcast(const std::vector<at::Tensor>& tensors) {
  std::vector<int64_t> sizes;
  std::optional<at::ScalarType> dtype;
  at::Device device = kCard;
  for (const at::Tensor& tensor : tensors) {
    sizes = at::infer_size(sizes, tensor.sizes());
    if (tensor.is_cuda()) device = tensor.device();
    if (tensor.scalar_type() == at::kBool || tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
      continue;
    }
    dtype = dtype ? at::promote_types(*dtype, tensor.scalar_type()) : tensor.scalar_type();
  }
  return new_tensor(sizes, dtype.value_or(tensors.back().scalar_type()), device);
}

}  // namespace

const ShapeRule* find_shape_rule(std::string_view operation) {
  const auto* found = std::find_if(kRules.begin(), kRules.end(), [&](const ShapeRule& rule) {
    return rule.operation == operation;
  });
  return found == kRules.end() ? nullptr : found;
}

at::Tensor apply(const ShapeRule& rule, const c10::FunctionSchema& schema,
                 const torch::jit::Stack& stack) {
  const std::vector<at::Tensor> tensors = tensor_arguments(rule, schema, stack);
  const at::Tensor& first = tensors.front();
  switch (rule.shape) {
    case Shape::like:
      return new_like(first);
    case Shape::like_bool:
      return new_beside(first, first.sizes(), at::kBool);
    case Shape::scalar:
      return new_beside(first, {});
    case Shape::out_like:
      return tensor_arguments({rule.operation, rule.shape, "out"}, schema, stack)
          .front()
          .resize_(first.sizes());
    case Shape::broadcast:
      break;
  }
  return broadcast(tensors);
}

}  // namespace precbench::train::simulated
