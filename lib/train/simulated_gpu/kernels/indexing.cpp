// Selecting, embedding, pooling and padding without a meta kernel.
#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/kernels/traced.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

// aten/src/ATen/native/cuda/Indexing.cu
at::Tensor select_indices(const at::Tensor& input, int64_t dim, const at::Tensor& indices) {
  std::vector<int64_t> sizes = input.sizes().vec();
  if (!sizes.empty()) {
    sizes[static_cast<size_t>(dim < 0 ? dim + input.dim() : dim)] = indices.numel();
  }
  return new_beside(input, sizes);
}

// aten/src/ATen/native/cuda/Embedding.cu. Above 3072 indices the kernel sorts them: indices, their
// order and the sorted ones, in int64 (embedding_dense_backward_cuda).
at::Tensor embedding_backward(const at::Tensor& gradient, const at::Tensor& indices,
                              c10::SymInt rows, c10::SymInt /*padding*/, bool /*by_frequency*/) {
  at::Tensor of_weight = new_beside(gradient, {rows.expect_int(), gradient.size(-1)});
  constexpr int64_t kSorted = 3072;
  if (indices.numel() > kSorted) {
    const int64_t bytes = indices.numel() * static_cast<int64_t>(sizeof(int64_t));
    take_scratch(gradient, {bytes, bytes, bytes});
  }
  return of_weight;
}

using Optional = std::optional<at::Tensor>;

constexpr int64_t kLargestOfEach = 2;  // EmbeddingBagMode::MAX

// aten/src/ATen/native/cuda/EmbeddingBag.cu, _embedding_bag_cuda: the bags, which bag each index is
// in, how many each bag has, and which row was the largest.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> embedding_bag(
    const at::Tensor& weight, const at::Tensor& indices, const at::Tensor& offsets,
    bool /*by_frequency*/, int64_t mode, bool /*sparse*/, const Optional& /*factors*/,
    bool with_last_offset, int64_t /*padding*/) {
  const int64_t bags = offsets.size(0) - (with_last_offset ? 1 : 0);
  const int64_t width = weight.size(1);
  const at::Tensor bag_of_index = new_beside(indices, {indices.size(0)});
  const at::Tensor sizes = new_beside(indices, offsets.sizes());
  const at::Tensor output = new_beside(weight, {bags, width});
  const at::Tensor largest =
      mode == kLargestOfEach ? new_beside(indices, {bags, width}) : new_beside(indices, {0});
  return {output, bag_of_index, sizes, largest};
}

// The same file's dense backward pass, which sorts the indices
// (embedding_bag_backward_cuda_sum_avg).
at::Tensor embedding_bag_backward(const at::Tensor& gradient, const at::Tensor& indices,
                                  const at::Tensor& /*offsets*/, const at::Tensor& /*bags*/,
                                  const at::Tensor& /*sizes*/, const at::Tensor& /*largest*/,
                                  c10::SymInt rows, bool /*by_frequency*/, int64_t mode,
                                  bool /*sparse*/, const Optional& /*factors*/,
                                  int64_t /*padding*/) {
  at::Tensor of_weight = new_beside(gradient, {rows.expect_int(), gradient.size(1)});
  if (mode != kLargestOfEach && indices.numel() > 0) {
    const auto bytes = static_cast<int64_t>(indices.nbytes());
    take_scratch(gradient, {bytes, bytes, bytes});
  }
  return of_weight;
}

// aten/src/ATen/native/cuda/AdaptiveAveragePooling.cu
at::Tensor adaptive_average(const at::Tensor& input, c10::SymIntArrayRef output) {
  const auto wanted = C10_AS_INTARRAYREF_SLOW(output);
  std::vector<int64_t> sizes = input.sizes().vec();
  std::copy(wanted.begin(), wanted.end(), sizes.end() - static_cast<std::ptrdiff_t>(wanted.size()));
  return new_tensor(sizes, input.scalar_type(), input.device(), input.suggest_memory_format());
}

// aten/src/ATen/native/cuda/ReflectionPad.cu: left, right, top, bottom
at::Tensor reflection_pad(const at::Tensor& input, c10::SymIntArrayRef padding) {
  const auto pads = C10_AS_INTARRAYREF_SLOW(padding);
  std::vector<int64_t> sizes = input.sizes().vec();
  sizes[sizes.size() - 1] += pads[0] + pads[1];
  sizes[sizes.size() - 2] += pads[2] + pads[3];
  return new_beside(input, sizes);
}

}  // namespace

void register_indexing(torch::Library& library) {
  add_kernel<&select_indices>(library, "index_select");
  add_kernel<&embedding_backward>(library, "embedding_dense_backward");
  add_kernel<&embedding_bag>(library, "_embedding_bag");
  add_kernel<&embedding_bag_backward>(library, "_embedding_bag_backward");
  add_kernel<&adaptive_average>(library, "_adaptive_avg_pool2d");
  add_kernel<&reflection_pad>(library, "reflection_pad2d");
}

}  // namespace precbench::train::simulated
