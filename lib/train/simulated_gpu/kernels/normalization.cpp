// Batch, layer, group and RMS normalisation, and dropout.
#include <array>

#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/kernels/traced.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

using OptionalTensor = std::optional<at::Tensor>;
using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Mask = std::array<bool, 3>;

// toAccumulateType(dtype, cuda)
at::ScalarType accumulate_type(at::ScalarType dtype) {
  return dtype == at::kHalf || dtype == at::kBFloat16 ? at::kFloat : dtype;
}

bool is_given(const OptionalTensor& tensor) { return tensor && tensor->defined(); }

// One number for each row: the normalised dimensions are 1.
std::vector<int64_t> row_sizes(const at::Tensor& input, size_t normalized_dims) {
  std::vector<int64_t> sizes = input.sizes().vec();
  for (size_t i = sizes.size() - normalized_dims; i < sizes.size(); ++i) sizes[i] = 1;
  return sizes;
}

// aten/src/ATen/native/cuda/layer_norm_kernel.cu, layer_norm_cuda
Three layer_norm(const at::Tensor& input, c10::SymIntArrayRef shape,
                 const OptionalTensor& /*weight*/, const OptionalTensor& /*bias*/, double /*eps*/) {
  copy_if_not_contiguous(input);
  const auto statistics = accumulate_type(input.scalar_type());
  const auto rows = row_sizes(input, shape.size());
  at::Tensor output = new_beside(input, input.sizes());
  at::Tensor mean = new_beside(input, rows, statistics);
  at::Tensor rstd = new_beside(input, rows, statistics);
  return {output, mean, rstd};
}

// layer_norm_backward_cuda
Three layer_norm_backward(const at::Tensor& gradient, const at::Tensor& input,
                          c10::SymIntArrayRef /*shape*/, const at::Tensor& /*mean*/,
                          const at::Tensor& /*rstd*/, const OptionalTensor& weight,
                          const OptionalTensor& bias, Mask mask) {
  Three results;
  auto& [of_input, of_weight, of_bias] = results;
  if (mask[0]) of_input = new_beside(input, input.sizes());
  if (mask[1] && is_given(weight)) of_weight = new_like(*weight);
  if (mask[2] && is_given(bias)) of_bias = new_like(*bias);
  copy_if_not_contiguous(gradient);
  return results;
}

// aten/src/ATen/native/cuda/layer_norm_kernel.cu, fused_rms_norm_cuda
std::tuple<at::Tensor, at::Tensor> rms_norm(const at::Tensor& input, at::IntArrayRef shape,
                                            const OptionalTensor& /*weight*/,
                                            std::optional<double> /*eps*/) {
  copy_if_not_contiguous(input);
  at::Tensor output = new_beside(input, input.sizes());
  return {output,
          new_beside(input, row_sizes(input, shape.size()), accumulate_type(input.scalar_type()))};
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward(
    const at::Tensor& /*gradient*/, const at::Tensor& input, at::IntArrayRef /*shape*/,
    const at::Tensor& /*rstd*/, const OptionalTensor& weight, std::array<bool, 2> mask) {
  at::Tensor of_input, of_weight;
  if (mask[0]) of_input = new_beside(input, input.sizes());
  if (mask[1] && is_given(weight)) of_weight = new_like(*weight);
  return {of_input, of_weight};
}

// aten/src/ATen/native/group_norm.cpp, native_group_norm: statistics in the input's dtype
Three group_norm(const at::Tensor& input, const OptionalTensor& /*weight*/,
                 const OptionalTensor& /*bias*/, c10::SymInt samples, c10::SymInt /*channels*/,
                 c10::SymInt /*pixels*/, int64_t groups, double /*eps*/) {
  copy_if_not_contiguous(input);
  const int64_t count = samples.expect_int();
  at::Tensor output = new_beside(input, input.sizes());
  at::Tensor mean = new_beside(input, {count, groups});
  return {output, mean, new_beside(input, {count, groups})};
}

Three group_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& input,
                          const at::Tensor& /*mean*/, const at::Tensor& /*rstd*/,
                          const OptionalTensor& weight, c10::SymInt /*samples*/,
                          c10::SymInt /*channels*/, c10::SymInt /*pixels*/, int64_t /*groups*/,
                          Mask mask) {
  Three results;
  auto& [of_input, of_weight, of_bias] = results;
  if (mask[0]) of_input = new_beside(input, input.sizes());
  if (mask[1] && is_given(weight)) of_weight = new_like(*weight);
  if (mask[2] && is_given(weight)) of_bias = new_like(*weight);
  return results;
}

// aten/src/ATen/native/cuda/Normalization.cu, batch_norm_cuda
Three batch_norm(const at::Tensor& input, const OptionalTensor& /*weight*/,
                 const OptionalTensor& /*bias*/, const OptionalTensor& /*running_mean*/,
                 const OptionalTensor& /*running_var*/, bool training, double /*momentum*/,
                 double /*eps*/) {
  const auto statistics = accumulate_type(input.scalar_type());
  const int64_t channels = training ? input.size(1) : 0;
  at::Tensor output = new_like(input);
  at::Tensor mean = new_beside(input, {channels}, statistics);
  return {output, mean, new_beside(input, {channels}, statistics)};
}

Three batch_norm_gradients(const at::Tensor& input, const OptionalTensor& weight,
                           const Mask& mask) {
  const auto dtype =
      is_given(weight) ? weight->scalar_type() : accumulate_type(input.scalar_type());
  Three results;
  auto& [of_input, of_weight, of_bias] = results;
  if (mask[0]) of_input = new_like(input);
  if (mask[1]) of_weight = new_beside(input, {input.size(1)}, dtype);
  if (mask[2]) of_bias = new_beside(input, {input.size(1)}, dtype);
  return results;
}

Three batch_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& input,
                          const OptionalTensor& weight, const OptionalTensor& /*running_mean*/,
                          const OptionalTensor& /*running_var*/, const OptionalTensor& /*mean*/,
                          const OptionalTensor& /*rstd*/, bool /*train*/, double /*eps*/,
                          Mask mask) {
  return batch_norm_gradients(input, weight, mask);
}

// aten/src/ATen/native/cudnn/BatchNorm.cpp: statistics in the weight's dtype; the reserve space of
// its spatial mode is empty.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> cudnn_batch_norm(
    const at::Tensor& input, const at::Tensor& weight, const OptionalTensor& /*bias*/,
    const OptionalTensor& /*running_mean*/, const OptionalTensor& /*running_var*/, bool training,
    double /*momentum*/, double /*eps*/) {
  const int64_t channels = training ? weight.numel() : 0;
  at::Tensor output = new_like(input);
  at::Tensor mean = new_beside(weight, {channels});
  at::Tensor variance = new_beside(weight, {channels});
  return {output, mean, variance, new_beside(input, {0}, at::kByte)};
}

Three cudnn_batch_norm_backward(const at::Tensor& input, const at::Tensor& /*gradient*/,
                                const at::Tensor& weight, const OptionalTensor& /*running_mean*/,
                                const OptionalTensor& /*running_var*/,
                                const OptionalTensor& /*mean*/, const OptionalTensor& /*variance*/,
                                double /*eps*/, const at::Tensor& /*reserve*/) {
  return batch_norm_gradients(input, weight, {true, true, true});
}

// aten/src/ATen/native/cuda/Dropout.cu: the mask is bool.
std::tuple<at::Tensor, at::Tensor> dropout(const at::Tensor& input, double /*p*/,
                                           std::optional<bool> /*train*/) {
  at::Tensor output = new_like(input);
  return {output, new_beside(input, input.sizes(), at::kBool)};
}

}  // namespace

void register_normalizations(torch::Library& library) {
  add_kernel<&layer_norm>(library, "native_layer_norm");
  add_kernel<&layer_norm_backward>(library, "native_layer_norm_backward");
  add_kernel<&rms_norm>(library, "_fused_rms_norm");
  add_kernel<&rms_norm_backward>(library, "_fused_rms_norm_backward");
  add_kernel<&group_norm>(library, "native_group_norm");
  add_kernel<&group_norm_backward>(library, "native_group_norm_backward");
  add_kernel<&batch_norm>(library, "native_batch_norm");
  add_kernel<&batch_norm_backward>(library, "native_batch_norm_backward");
  add_kernel<&cudnn_batch_norm>(library, "cudnn_batch_norm");
  add_kernel<&cudnn_batch_norm_backward>(library, "cudnn_batch_norm_backward");
  add_kernel<&dropout>(library, "native_dropout");
}

}  // namespace precbench::train::simulated
