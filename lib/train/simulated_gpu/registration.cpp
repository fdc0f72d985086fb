#include "train/simulated_gpu/registration.h"

#include <dlfcn.h>
#include <torch/library.h>

#include <mutex>

#include "common/errors.h"
#include "train/simulated_gpu/cuda_hooks.h"
#include "train/simulated_gpu/device_guard.h"
#include "train/simulated_gpu/fallback.h"
#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/tensors.h"
#include "train/simulated_gpu/weightless.h"

namespace precbench::train::simulated {
namespace {

void refuse_beside_real_cuda() {
  void* real = dlopen("libtorch_cuda.so", RTLD_NOLOAD | RTLD_LAZY);
  if (real == nullptr) return;
  dlclose(real);
  throw DeviceError("a simulated GPU cannot be used in a process that has loaded libtorch_cuda.so");
}

torch::Library& new_library(torch::Library::Kind kind, const char* space, c10::DispatchKey key) {
  return *new torch::Library(kind, space, key, __FILE__, __LINE__);  // for the process's lifetime
}

void register_all() {
  refuse_beside_real_cuda();
  c10::SetAllocator(c10::DeviceType::CUDA, storage_allocator(kCard));
  static const c10::impl::DeviceGuardImplRegistrar guard(c10::DeviceType::CUDA, &device_guard());
  register_cuda_hooks();
  constexpr auto kImplement = torch::Library::IMPL;
  new_library(kImplement, "_", c10::DispatchKey::CUDA)
      .fallback(torch::CppFunction::makeFromBoxedFunction<&run_any_operation>());
  register_weightless_mode(
      new_library(kImplement, "_", c10::DispatchKey::TESTING_ONLY_GenericMode));
  torch::Library& library = new_library(kImplement, "aten", c10::DispatchKey::CUDA);
  register_tensor_kernels(library);
  register_convolutions(library);
  register_normalizations(library);
  register_attention(library);
  register_reductions(library);
  register_losses(library);
  register_indexing(library);
  register_amp_kernels(library);
  register_float8_kernels(library);
  register_recurrent_layers(library);
  register_instead_of_composites(library);
}

}  // namespace

void register_simulated_gpu() {
  static std::once_flag once;
  std::call_once(once, register_all);
}

}  // namespace precbench::train::simulated
