#include "train/base/errors.h"

#include <algorithm>
#include <array>

namespace precbench::train {
namespace {

// c10::AcceleratorError of cudaMalloc's callers, cublasCreate and cublasLt, cuDNN's handle.
constexpr std::array<std::string_view, 5> kRefusals = {
    "CUDA error: out of memory", "cudaErrorMemoryAllocation", "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED", "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"};

constexpr std::array<std::string_view, 3> kNoAlgorithm = {"unable to find an engine",
                                                          "Unable to find a valid cuDNN algorithm",
                                                          "CUDNN_STATUS_NOT_INITIALIZED"};

template <size_t kCount>
bool has_one_of(std::string_view message, const std::array<std::string_view, kCount>& texts) {
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
    return message.find(text) != std::string_view::npos;
  });
}

}  // namespace

bool is_out_of_memory(std::string_view message, bool is_nearly_full) {
  return has_one_of(message, kRefusals) || (is_nearly_full && has_one_of(message, kNoAlgorithm));
}

}  // namespace precbench::train
