// Convolutions. at::convolution itself is composite: it chooses a backend, and what is registered
// here are the backends that it chooses on CUDA (select_conv_backend in
// aten/src/ATen/native/Convolution.cpp). Workspaces that cuDNN asks for are not modelled.
#include <ATen/native/ConvUtils.h>

#include <array>

#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/kernels/traced.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

using Sizes = std::vector<int64_t>;

Sizes plain(c10::SymIntArrayRef values) { return C10_AS_INTARRAYREF_SLOW(values).vec(); }

int64_t entry(const Sizes& values, int64_t i) {
  return values[values.size() == 1 ? 0 : static_cast<size_t>(i)];
}

// conv_output_size()
Sizes output_size(const at::Tensor& input, const at::Tensor& weight, const Sizes& padding,
                  const Sizes& stride, const Sizes& dilation) {
  Sizes sizes = {input.size(0), weight.size(0)};
  for (int64_t i = 0; i < input.dim() - 2; ++i) {
    const int64_t kernel = entry(dilation, i) * (weight.size(i + 2) - 1) + 1;
    sizes.push_back((input.size(i + 2) + 2 * entry(padding, i) - kernel) / entry(stride, i) + 1);
  }
  return sizes;
}

// conv_input_size(): the output of a transposed convolution
Sizes transposed_size(const at::Tensor& input, const at::Tensor& weight, const Sizes& padding,
                      const Sizes& output_padding, const Sizes& stride, const Sizes& dilation,
                      int64_t groups) {
  Sizes sizes = {input.size(0), weight.size(1) * groups};
  for (int64_t i = 0; i < input.dim() - 2; ++i) {
    const int64_t kernel = entry(dilation, i) * (weight.size(i + 2) - 1) + 1;
    sizes.push_back((input.size(i + 2) - 1) * entry(stride, i) - 2 * entry(padding, i) + kernel +
                    entry(output_padding, i));
  }
  return sizes;
}

at::Tensor new_image(const at::Tensor& input, const at::Tensor& weight, const Sizes& sizes) {
  return new_tensor(sizes, input.scalar_type(), input.device(),
                    at::native::cudnn_conv_suggest_memory_format(input, weight));
}

void launch_convolution(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& output,
                        int64_t times = 1) {
  if (input.device() != kCard) return;
  for (int64_t i = 0; i < times; ++i) {
    gpu().timeline().launch(convolution_kernel(input, weight, output));
  }
}

at::Tensor cudnn_convolution(const at::Tensor& input, const at::Tensor& weight,
                             c10::SymIntArrayRef padding, c10::SymIntArrayRef stride,
                             c10::SymIntArrayRef dilation, c10::SymInt /*groups*/,
                             bool /*benchmark*/, bool /*deterministic*/, bool /*allow_tf32*/) {
  at::Tensor output = new_image(
      input, weight, output_size(input, weight, plain(padding), plain(stride), plain(dilation)));
  launch_convolution(input, weight, output);
  return output;
}

at::Tensor cudnn_convolution_transpose(const at::Tensor& input, const at::Tensor& weight,
                                       c10::SymIntArrayRef padding,
                                       c10::SymIntArrayRef output_padding,
                                       c10::SymIntArrayRef stride, c10::SymIntArrayRef dilation,
                                       c10::SymInt groups, bool /*benchmark*/,
                                       bool /*deterministic*/, bool /*allow_tf32*/) {
  at::Tensor output =
      new_image(input, weight,
                transposed_size(input, weight, plain(padding), plain(output_padding), plain(stride),
                                plain(dilation), groups.expect_int()));
  launch_convolution(output, weight, input);
  return output;
}

// grad_input and grad_weight where the mask asks for them.
template <size_t kCount>
std::tuple<at::Tensor, at::Tensor> gradients(const at::Tensor& input, const at::Tensor& weight,
                                             const std::array<bool, kCount>& mask) {
  at::Tensor of_input, of_weight;
  if (mask[0]) of_input = new_image(input, weight, input.sizes().vec());
  if (mask[1]) {
    of_weight = new_tensor(weight.sizes(), weight.scalar_type(), weight.device(),
                           at::native::cudnn_conv_suggest_memory_format(input, weight));
  }
  return {of_input, of_weight};
}

std::tuple<at::Tensor, at::Tensor> cudnn_backward(
    const at::Tensor& input, const at::Tensor& gradient, const at::Tensor& weight,
    at::IntArrayRef /*padding*/, at::IntArrayRef /*stride*/, at::IntArrayRef /*dilation*/,
    int64_t /*groups*/, bool /*benchmark*/, bool /*deterministic*/, bool /*allow_tf32*/,
    std::array<bool, 2> mask) {
  auto results = gradients(input, weight, mask);
  launch_convolution(input, weight, gradient, mask[0] + mask[1]);
  if (gpu().trace().is_on()) {
    TracedOperation traced{"cudnn_convolution_backward", {}, {}};
    note_dtype(traced.inputs, std::tuple(input, gradient, weight));
    note_dtype(traced.outputs, results);
    gpu().trace().add(std::move(traced));
  }
  return results;
}

std::tuple<at::Tensor, at::Tensor> cudnn_transpose_backward(
    const at::Tensor& input, const at::Tensor& gradient, const at::Tensor& weight,
    at::IntArrayRef /*padding*/, at::IntArrayRef /*output_padding*/, at::IntArrayRef /*stride*/,
    at::IntArrayRef /*dilation*/, int64_t /*groups*/, bool /*benchmark*/, bool /*deterministic*/,
    bool /*allow_tf32*/, std::array<bool, 2> mask) {
  launch_convolution(gradient, weight, input, mask[0] + mask[1]);
  return gradients(input, weight, mask);
}

at::Tensor depthwise(const at::Tensor& input, const at::Tensor& weight,
                     c10::SymIntArrayRef /*kernel*/, const std::optional<at::Tensor>& /*bias*/,
                     c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
                     c10::SymIntArrayRef dilation) {
  at::Tensor output =
      new_beside(input, output_size(input, weight, plain(padding), plain(stride), plain(dilation)));
  launch_convolution(input, weight, output);
  return output;
}

std::tuple<at::Tensor, at::Tensor> depthwise_backward(
    const at::Tensor& gradient, const at::Tensor& input, const at::Tensor& weight,
    at::IntArrayRef /*kernel*/, at::IntArrayRef /*stride*/, at::IntArrayRef /*padding*/,
    at::IntArrayRef /*dilation*/, std::array<bool, 2> mask) {
  launch_convolution(input, weight, gradient, mask[0] + mask[1]);
  return {mask[0] ? new_beside(input, input.sizes()) : at::Tensor(),
          mask[1] ? new_beside(weight, weight.sizes()) : at::Tensor()};
}

// The patches of one image, which slow_conv2d multiplies by the weights one image after the other
// (aten/src/ATen/native/cuda/ConvolutionMM2d.cu): where cuDNN is not used, as for bf16 before 8.0.
int64_t patches_bytes(const at::Tensor& input, const Sizes& kernel, at::IntArrayRef output) {
  return input.size(1) * kernel[0] * kernel[1] * output[2] * output[3] * input.element_size();
}

bool is_pointwise(const Sizes& kernel, const Sizes& stride, const Sizes& padding) {
  return kernel == Sizes{1, 1} && stride == Sizes{1, 1} && padding == Sizes{0, 0};
}

at::Tensor slow_convolution(const at::Tensor& input, const at::Tensor& weight,
                            c10::SymIntArrayRef kernel_size,
                            const std::optional<at::Tensor>& /*bias*/, c10::SymIntArrayRef stride,
                            c10::SymIntArrayRef padding) {
  const Sizes kernel = plain(kernel_size);
  at::Tensor output =
      new_beside(input, output_size(input, weight, plain(padding), plain(stride), {1, 1}));
  launch_convolution(input, weight, output);
  gpu().need_matrix_workspace();
  if (!is_pointwise(kernel, plain(stride), plain(padding))) {
    take_scratch(input, {patches_bytes(input, kernel, output.sizes())});
  }
  return output;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> slow_convolution_backward(
    const at::Tensor& gradient, const at::Tensor& input, const at::Tensor& weight,
    c10::SymIntArrayRef kernel_size, c10::SymIntArrayRef /*stride*/,
    c10::SymIntArrayRef /*padding*/, std::array<bool, 3> mask) {
  at::Tensor of_input, of_weight, of_bias;
  if (mask[0]) of_input = new_beside(input, input.sizes());
  if (mask[1]) of_weight = new_beside(weight, weight.sizes());
  if (mask[2]) of_bias = new_beside(weight, {gradient.size(1)});
  launch_convolution(input, weight, gradient, mask[0] + mask[1]);
  gpu().need_matrix_workspace();
  take_scratch(input, {patches_bytes(input, plain(kernel_size), gradient.sizes())});
  return {of_input, of_weight, of_bias};
}

}  // namespace

void register_convolutions(torch::Library& library) {
  add_kernel<&cudnn_convolution, Launch::by_itself>(library, "cudnn_convolution");
  add_kernel<&cudnn_convolution_transpose, Launch::by_itself>(library,
                                                              "cudnn_convolution_transpose");
  add_kernel<&depthwise, Launch::by_itself>(library, "_conv_depthwise2d");
  add_kernel<&slow_convolution, Launch::by_itself>(library, "_slow_conv2d_forward");
  add_kernel<&slow_convolution_backward, Launch::by_itself>(library,
                                                            "_slow_conv2d_backward.output_mask");
  at::native::cudnn_convolution_backward_stub.set_cuda_dispatch_ptr(&cudnn_backward);
  at::native::cudnn_convolution_transpose_backward_stub.set_cuda_dispatch_ptr(
      &cudnn_transpose_backward);
  at::native::conv_depthwise2d_backward_stub.set_cuda_dispatch_ptr(&depthwise_backward);
}

}  // namespace precbench::train::simulated
