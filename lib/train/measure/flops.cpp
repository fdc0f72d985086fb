#include "train/measure/flops.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <vector>

namespace precbench::train {
namespace {

using Inputs = c10::ArrayRef<const c10::IValue>;

double product(at::IntArrayRef sizes) {
  double result = 1;
  for (const int64_t size : sizes) result *= static_cast<double>(size);
  return result;
}

// left [.., m, k], right [.., k, n]
double matrix_product(Inputs inputs, size_t left, size_t right) {
  if (inputs.size() <= right) return 0;
  const at::Tensor& a = inputs[left].toTensor();
  return 2 * product(a.sizes()) * static_cast<double>(inputs[right].toTensor().sizes().back());
}

// Each element of the output is a sum over a filter [out, in / groups, ..].
double convolution(const at::Tensor& weight, double output_elements_of_a_channel) {
  return 2 * product(weight.sizes()) * output_elements_of_a_channel;
}

// _convolution(input [n, in, ..], weight, bias, stride, padding, dilation, transposed, ..)
double forward_convolution(Inputs inputs) {
  constexpr size_t kStride = 3, kPadding = 4, kDilation = 5, kTransposed = 6, kInputCount = 7;
  if (inputs.size() < kInputCount) return 0;
  const at::Tensor input = inputs[0].toTensor();
  const at::Tensor weight = inputs[1].toTensor();
  double elements = static_cast<double>(input.size(0));
  if (inputs[kTransposed].toBool())
    return convolution(weight, elements * product(input.sizes().slice(2)));
  const auto stride = inputs[kStride].toIntVector();
  const auto padding = inputs[kPadding].toIntVector();
  const auto dilation = inputs[kDilation].toIntVector();
  for (int64_t axis = 2; axis < input.dim(); ++axis) {
    const auto of = [axis](const std::vector<int64_t>& list) {  // one number may stand for all axes
      return list.at(std::min(static_cast<size_t>(axis) - 2, list.size() - 1));
    };
    const int64_t reach = of(dilation) * (weight.size(axis) - 1) + 1;
    elements *= static_cast<double>((input.size(axis) + 2 * of(padding) - reach) / of(stride) + 1);
  }
  return convolution(weight, elements);
}

// convolution_backward(output gradient [n, out, ..], input, weight, .., output_mask): one product
// each for the gradients of input and weight.
double backward_convolution(Inputs inputs) {
  if (inputs.size() < 4) return 0;
  const at::Tensor gradient = inputs[0].toTensor();
  const auto wanted = inputs.back().toBoolList();
  const double elements =
      static_cast<double>(gradient.size(0)) * product(gradient.sizes().slice(2));
  return convolution(inputs[2].toTensor(), elements) *
         static_cast<double>(static_cast<int>(wanted.get(0)) + static_cast<int>(wanted.get(1)));
}

// query [batch, heads, l, e], key [.., s, e], value [.., s, v]: scores, then the weighted sum.
double attention(Inputs inputs, size_t query, bool is_backward) {
  if (inputs.size() < query + 3) return 0;
  const at::Tensor& q = inputs[query].toTensor();
  const at::Tensor& k = inputs[query + 1].toTensor();
  const at::Tensor& v = inputs[query + 2].toTensor();
  const double pairs = product(q.sizes().slice(0, q.dim() - 1)) * static_cast<double>(k.size(-2));
  const auto e = static_cast<double>(q.size(-1));
  const auto width = static_cast<double>(v.size(-1));
  // Backward: the scores again, and the gradients of q, k, v and of the attention weights.
  return is_backward ? 2 * pairs * (3 * e + 2 * width) : 2 * pairs * (e + width);
}

}  // namespace

double operation_flops(std::string_view operation, Inputs inputs) {
  if (operation == "aten::mm" || operation == "aten::bmm" || operation == "aten::_scaled_mm") {
    return matrix_product(inputs, 0, 1);
  }
  if (operation == "aten::addmm" || operation == "aten::baddbmm") {
    return matrix_product(inputs, 1, 2);
  }
  if (operation == "mkldnn::_linear_pointwise") {
    return 2 * product(inputs[0].toTensor().sizes()) *
           static_cast<double>(inputs[1].toTensor().size(0));
  }
  if (operation == "aten::_convolution") return forward_convolution(inputs);
  if (operation == "aten::convolution_backward") return backward_convolution(inputs);
  if (operation.starts_with("aten::_scaled_dot_product_") &&
      operation.find("attention") != std::string_view::npos &&
      operation.find("math") == std::string_view::npos) {
    const bool is_backward = operation.ends_with("_backward");
    return attention(inputs, is_backward ? 1 : 0, is_backward);
  }
  return 0;
}

}  // namespace precbench::train
