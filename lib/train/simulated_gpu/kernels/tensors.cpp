// Making, viewing, copying and reading tensors.
#include "train/simulated_gpu/tensors.h"

#include <ATen/EmptyTensor.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>

#include <cmath>

#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/kernels/traced.h"

namespace precbench::train::simulated {
namespace {

at::Device device_or_card(std::optional<at::Device> device) {
  return device && device->has_index() ? *device : kCard;
}

at::Tensor empty(c10::SymIntArrayRef sizes, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout> /*layout*/, std::optional<at::Device> device,
                 std::optional<bool> /*pin_memory*/, std::optional<at::MemoryFormat> format) {
  return new_tensor(C10_AS_INTARRAYREF_SLOW(sizes), c10::dtype_or_default(dtype),
                    device_or_card(device), format);
}

at::Tensor empty_strided(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout> /*layout*/,
                         std::optional<at::Device> device, std::optional<bool> /*pin_memory*/) {
  return new_strided(C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides),
                     c10::dtype_or_default(dtype), device_or_card(device));
}

at::Tensor as_strided(const at::Tensor& tensor, c10::SymIntArrayRef sizes,
                      c10::SymIntArrayRef strides, std::optional<c10::SymInt> offset) {
  std::optional<int64_t> start;
  if (offset) start = offset->guard_int(__FILE__, __LINE__);
  return at::native::as_strided_tensorimpl(tensor, C10_AS_INTARRAYREF_SLOW(sizes),
                                           C10_AS_INTARRAYREF_SLOW(strides), start);
}

at::Tensor view(const at::Tensor& tensor, c10::SymIntArrayRef sizes) {
  return at::native::view(tensor, C10_AS_INTARRAYREF_SLOW(sizes));
}

at::Tensor reshape_alias(const at::Tensor& tensor, c10::SymIntArrayRef sizes,
                         c10::SymIntArrayRef strides) {
  return at::native::_reshape_alias(tensor, C10_AS_INTARRAYREF_SLOW(sizes),
                                    C10_AS_INTARRAYREF_SLOW(strides));
}

// aten/src/ATen/native/cuda/Resize.cpp: the storage only ever grows.
const at::Tensor& resize(const at::Tensor& tensor, c10::SymIntArrayRef sizes,
                         std::optional<at::MemoryFormat> /*format*/) {
  const auto wanted = C10_AS_INTARRAYREF_SLOW(sizes);
  grow_storage(tensor, at::detail::computeStorageNbytesContiguous(wanted, tensor.dtype().itemsize(),
                                                                  tensor.storage_offset()));
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(wanted);
  return tensor;
}

int64_t bytes_of(const at::Tensor& tensor) { return tensor.numel() * tensor.element_size(); }

std::optional<double> known_value(const at::Tensor& scalar) {
  if (scalar.is_cpu()) return scalar.item<double>();
  return gpu().values().at(address_of(scalar));
}

void read_known_values(const at::Tensor& to, const at::Tensor& from) {
  to.zero_();
  if (!to.is_contiguous() || !from.is_contiguous()) return;
  const uint64_t begin = address_of(from);
  const auto element = static_cast<uint64_t>(from.element_size());
  at::Tensor flat = to.view(-1);
  gpu().values().for_each(begin, bytes_of(from), [&](uint64_t address, double value) {
    flat[static_cast<int64_t>((address - begin) / element)].fill_(value);
  });
}

// Autocast's cache holds casts of leaves; on the device those are the weights.
void note_autocast_copy(const at::Tensor& to, const at::Tensor& from) {
  Block* source = block_of(from);
  Block* target = block_of(to);
  if (source == nullptr || target == nullptr || source->use != MemoryUse::weights) return;
  if (target->use != MemoryUse::activations && target->use != MemoryUse::temporaries) return;
  if (to.scalar_type() == from.scalar_type() || !at::autocast::is_autocast_cache_enabled()) return;
  gpu().memory().mark(target, MemoryUse::autocast);
}

// All directions: with it, _copy_from and _to_copy need no kernels.
at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  if (to.is_cpu()) {
    if (from.device() == kCard) gpu().timeline().copy_to_host(bytes_of(to));
    read_known_values(to, from);
    return to;
  }
  note_autocast_copy(to, from);
  if (to.device() != kCard) return to;
  if (from.device() == kCard) {
    launch("aten::copy_", {from}, {to});
  } else {
    gpu().timeline().copy_from_host(bytes_of(to), !(non_blocking && is_pinned(from)));
  }
  gpu().values().forget(address_of(to), bytes_of(to));
  if (to.numel() != 1 || from.numel() != 1) return to;
  if (const auto value = known_value(from)) gpu().values().set(address_of(to), *value);
  return to;
}

at::Tensor& fill(at::Tensor& tensor, const at::Scalar& value) {
  if (tensor.device() != kCard || tensor.numel() == 0) return tensor;
  launch("aten::fill_", {}, {tensor});
  gpu().values().forget(address_of(tensor), bytes_of(tensor));
  if (tensor.numel() == 1 && !value.isComplex()) {
    gpu().values().set(address_of(tensor), value.toDouble());
  }
  return tensor;
}

at::Tensor& zero(at::Tensor& tensor) { return fill(tensor, 0); }

at::Scalar read_scalar(const at::Tensor& tensor) {
  if (tensor.device() == kCard) gpu().timeline().copy_to_host(bytes_of(tensor));
  const double value = known_value(tensor).value_or(0.0);
  if (at::isFloatingType(tensor.scalar_type())) return value;
  if (tensor.scalar_type() == at::kBool) return value != 0;
  return static_cast<int64_t>(value);
}

// Nothing is computed: what a caller compares is as it hopes.
bool equal(const at::Tensor& a, const at::Tensor& b) {
  launch("aten::equal", {a, b}, {});
  gpu().timeline().wait_for(Wait::read_value);
  return true;
}

}  // namespace

void register_tensor_kernels(torch::Library& library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("as_strided", &as_strided);
  library.impl("view", &view);
  library.impl("_reshape_alias", &reshape_alias);
  library.impl("resize_", &resize);
  add_kernel<&copy, Launch::by_itself>(library, "copy_");
  library.impl("fill_.Scalar", &fill);
  library.impl("zero_", &zero);
  library.impl("_local_scalar_dense", &read_scalar);
  library.impl("equal", &equal);
}

}  // namespace precbench::train::simulated
