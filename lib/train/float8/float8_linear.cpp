#include "train/float8/float8_linear.h"

#include <utility>

namespace precbench::train {
namespace {

// Carries the layer from forward to backward inside the autograd graph.
struct LayerHolder : torch::CustomClassHolder {
  explicit LayerHolder(Float8Layer held) : layer(std::move(held)) {}
  Float8Layer layer;
};

int64_t padded(int64_t extent) {
  return (extent + kFloat8Multiple - 1) / kFloat8Multiple * kFloat8Multiple;
}

// matrix [rows, columns] with zeros below and to the right.
torch::Tensor pad(const torch::Tensor& matrix) {
  const int64_t below = padded(matrix.size(0)) - matrix.size(0);
  const int64_t right = padded(matrix.size(1)) - matrix.size(1);
  return below + right > 0 ? at::constant_pad_nd(matrix, {0, right, 0, below}) : matrix;
}

torch::Tensor transposed_copy(const Float8Tensor& matrix) { return matrix.data.t().contiguous(); }

struct Product {
  Float8Kernel kernel;
  at::ScalarType out;
  bool fast_accumulation;
};

// left [m, k] times the transpose of right [n, k]; both are contiguous, which makes the second one
// column-major as the kernel wants it. `bias` [n] or none.
torch::Tensor multiply(const torch::Tensor& left, const torch::Tensor& left_inverse,
                       const torch::Tensor& right, const torch::Tensor& right_inverse,
                       const std::optional<torch::Tensor>& bias, const Product& product) {
  // The kernel of a CPU calls matmul, which autocast would compute in bfloat16.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  if (product.kernel == Float8Kernel::scaled_mm) {
    return at::_scaled_mm(left, right.t(), left_inverse, right_inverse, bias, std::nullopt,
                          product.out, product.fast_accumulation);
  }
  torch::Tensor result = at::mm(left.to(torch::kFloat), right.t().to(torch::kFloat));
  result.mul_(left_inverse * right_inverse);
  if (bias) result.add_(*bias);
  return result.to(product.out);
}

class Float8Linear : public torch::autograd::Function<Float8Linear> {
 public:
  // input [n, in] in the weight's dtype.
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& bias, Float8Layer layer,
                               bool records) {
    const Float8Tensor left = layer->input.quantize(pad(input), records);
    const Float8Tensor right = layer->weight.quantize(pad(weight), records);
    const int64_t outputs = weight.size(0);
    std::optional<torch::Tensor> padded_bias = bias;
    if (bias && padded(outputs) != outputs) {
      padded_bias = at::constant_pad_nd(*bias, {0, padded(outputs) - outputs});
    }
    const torch::Tensor result =
        multiply(left.data, left.inverse_scale, right.data, right.inverse_scale, padded_bias,
                 {layer->kernel, weight.scalar_type(), /*fast_accumulation=*/true});
    context->save_for_backward({left.data, left.inverse_scale, right.data, right.inverse_scale});
    context->saved_data["layer"] =
        c10::IValue::make_capsule(c10::make_intrusive<LayerHolder>(layer));
    context->saved_data["has_bias"] = bias.has_value();
    context->saved_data["inputs"] = input.size(1);
    if (records) {
      layer->flops = product_flops(input.size(0), outputs, input.size(1));
      layer->copy_bytes = static_cast<int64_t>(left.data.nbytes() + right.data.nbytes());
    }
    return result.narrow(0, 0, input.size(0)).narrow(1, 0, outputs);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Float8Tensor input = {saved[0], saved[1]};
    const Float8Tensor weight = {saved[2], saved[3]};
    const auto holder =
        c10::static_intrusive_pointer_cast<LayerHolder>(context->saved_data["layer"].toCapsule());
    Float8Layer layer = holder->layer;
    const torch::Tensor& output_gradient = gradients[0];  // [n, out]
    const int64_t samples = output_gradient.size(0);
    const int64_t outputs = output_gradient.size(1);
    const int64_t inputs = context->saved_data["inputs"].toInt();
    const Product product = {layer->kernel, output_gradient.scalar_type(),
                             /*fast_accumulation=*/false};
    const Float8Tensor gradient = layer->gradient.quantize(pad(output_gradient), /*records=*/true);

    torch::Tensor input_gradient;
    if (context->needs_input_grad(0)) {
      input_gradient = multiply(gradient.data, gradient.inverse_scale, transposed_copy(weight),
                                weight.inverse_scale, std::nullopt, product);
      input_gradient = input_gradient.narrow(0, 0, samples).narrow(1, 0, inputs);
      layer->flops += product_flops(samples, outputs, inputs);
    }
    torch::Tensor weight_gradient =
        multiply(transposed_copy(gradient), gradient.inverse_scale, transposed_copy(input),
                 input.inverse_scale, std::nullopt, product);
    weight_gradient = weight_gradient.narrow(0, 0, outputs).narrow(1, 0, inputs);
    layer->flops += product_flops(samples, outputs, inputs);
    torch::Tensor bias_gradient;
    if (context->saved_data["has_bias"].toBool()) bias_gradient = output_gradient.sum(0);
    return {input_gradient, weight_gradient, bias_gradient, {}, {}};
  }

 private:
  // Of each of the three: a multiplication with its addition is two.
  static double product_flops(int64_t samples, int64_t outputs, int64_t inputs) {
    return 2.0 * static_cast<double>(samples * outputs * inputs);
  }
};

}  // namespace

Float8LayerImpl::Float8LayerImpl(const Float8Job& recipe, Float8Kernel kernel)
    : kernel(kernel),
      input(Float8Format::e4m3, recipe),
      weight(Float8Format::e4m3, recipe),
      gradient(Float8Format::e5m2, recipe) {
  const auto keep = [this](const std::string& kind, const Float8Scaling& scaling) {
    register_buffer(kind + "_scale", scaling.scale());
    if (scaling.history().defined()) register_buffer(kind + "_amax_history", scaling.history());
  };
  keep("input", input);
  keep("weight", weight);
  keep("gradient", gradient);
}

void Float8LayerImpl::end_forward() {
  input.update();
  weight.update();
}

void Float8LayerImpl::end_backward() { gradient.update(); }

void Float8LayerImpl::count(bool on) {
  input.count(on);
  weight.count(on);
  gradient.count(on);
}

bool is_float8_state(const std::string& name) {
  return name.find(".fp8.") != std::string::npos || name.starts_with("fp8.");
}

torch::Tensor float8_linear(const torch::Tensor& input, const torch::Tensor& weight,
                            const torch::Tensor& bias, Float8Layer layer) {
  const torch::Tensor rows = input.to(weight.scalar_type()).reshape({-1, weight.size(1)});
  // Autograd takes no undefined tensors.
  const torch::Tensor result =
      Float8Linear::apply(rows, weight, bias.defined() ? std::optional(bias) : std::nullopt, layer,
                          torch::GradMode::is_enabled());
  auto shape = input.sizes().vec();
  shape.back() = weight.size(0);
  return result.reshape(shape);
}

}  // namespace precbench::train
