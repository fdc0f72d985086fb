// Losses without a meta kernel (aten/src/ATen/native/cuda/Loss.cu, NLLLoss2d.cu).
#include <ATen/ExpandUtils.h>
#include <ATen/core/Reduction.h>

#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/kernels/traced.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

at::Tensor huber(const at::Tensor& input, const at::Tensor& target, int64_t reduction,
                 double /*delta*/) {
  if (reduction != at::Reduction::None) return new_beside(input, {});
  return new_beside(input, at::infer_size(input.sizes(), target.sizes()));
}

at::Tensor binary_cross_entropy(const at::Tensor& input, const at::Tensor& /*target*/,
                                const OptionalTensor& /*weight*/, int64_t reduction) {
  at::Tensor losses = new_like(input);
  return reduction == at::Reduction::None ? losses : new_beside(input, {});
}

std::tuple<at::Tensor, at::Tensor> nll_of_images(const at::Tensor& input, const at::Tensor& target,
                                                 const OptionalTensor& /*weight*/,
                                                 int64_t reduction, c10::SymInt /*ignored*/) {
  const bool is_reduced = reduction != at::Reduction::None;
  at::Tensor loss = is_reduced ? new_beside(input, {}) : new_beside(input, target.sizes());
  return {loss, new_beside(input, {})};
}

// log_sigmoid_forward_out_cuda keeps nothing for the backward pass.
std::tuple<at::Tensor, at::Tensor> log_sigmoid(const at::Tensor& input) {
  at::Tensor output = new_like(input);
  return {output, new_beside(input, {0})};
}

std::tuple<at::Tensor, at::Tensor> prelu_backward(const at::Tensor& /*gradient*/,
                                                  const at::Tensor& input,
                                                  const at::Tensor& weight) {
  at::Tensor of_input = new_like(input);
  return {of_input, new_beside(weight, input.sizes())};
}

}  // namespace

void register_losses(torch::Library& library) {
  add_kernel<&huber>(library, "huber_loss");
  add_kernel<&binary_cross_entropy>(library, "binary_cross_entropy");
  add_kernel<&nll_of_images>(library, "nll_loss2d_forward");
  add_kernel<&log_sigmoid>(library, "log_sigmoid_forward");
  add_kernel<&prelu_backward>(library, "_prelu_kernel_backward");
}

}  // namespace precbench::train::simulated
