#include "train/models/onednn_linear.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace precbench::train {
namespace {

using OptionalTensor = std::optional<at::Tensor>;
using ScalarList = torch::List<std::optional<at::Scalar>>;
using LinearPointwise = at::Tensor(const at::Tensor&, const at::Tensor&, const OptionalTensor&,
                                   std::string_view, ScalarList, std::optional<std::string_view>);

std::optional<c10::OperatorHandle> find_kernel() {
  return c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
}

// input [.., k] times the transpose of weight [m, k], plus bias [m].
at::Tensor product(const at::Tensor& input, const at::Tensor& weight, const OptionalTensor& bias) {
  static const auto kernel = find_kernel().value().typed<LinearPointwise>();
  return kernel.call(input, weight, bias, "none", ScalarList(), "");
}

class OnednnLinear : public torch::autograd::Function<OnednnLinear> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight, const OptionalTensor& bias) {
    context->save_for_backward({input, weight});
    context->saved_data["has_bias"] = bias.has_value();
    return product(input, weight, bias);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& input = saved[0];
    const at::Tensor& weight = saved[1];
    const at::Tensor output_gradient =
        gradients[0].reshape({-1, weight.size(0)}).contiguous();  // [n, out]
    at::Tensor input_gradient;
    if (context->needs_input_grad(0)) {
      input_gradient = product(output_gradient, weight.t(), std::nullopt).view_as(input);
    }
    const at::Tensor weight_gradient =
        product(output_gradient.t(), input.reshape({-1, weight.size(1)}).t(), std::nullopt);
    at::Tensor bias_gradient;
    if (context->saved_data["has_bias"].toBool()) bias_gradient = output_gradient.sum(0);
    return {input_gradient, weight_gradient, bias_gradient};
  }
};

}  // namespace

bool has_onednn_linear() { return find_kernel().has_value() && at::globalContext().hasMKLDNN(); }

torch::Tensor onednn_linear(const torch::Tensor& input, const torch::Tensor& weight,
                            const torch::Tensor& bias) {
  // Autograd takes no undefined tensors.
  return OnednnLinear::apply(input, weight, bias.defined() ? OptionalTensor(bias) : std::nullopt);
}

}  // namespace precbench::train
