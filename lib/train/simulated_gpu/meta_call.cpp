#include "train/simulated_gpu/meta_call.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <array>

#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

using TensorMap = std::function<at::Tensor(const at::Tensor&)>;

c10::IValue map_tensors(const c10::IValue& value, const TensorMap& map) {
  if (value.isTensor()) return map(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> mapped;
    for (const at::Tensor& tensor : value.toTensorVector()) mapped.push_back(map(tensor));
    return mapped;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> mapped;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      mapped.push_back(tensor ? std::optional(map(*tensor)) : std::nullopt);
    }
    return mapped;
  }
  return value;
}

// Tensors and their doubles on the meta device. Tensors that share a storage have doubles that
// share one, so that a view among the results is known by its storage, without asking the schema.
class Doubles {
 public:
  at::Tensor to_meta(const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.is_meta()) return tensor;
    for (const auto& [real, meta] : pairs_) {
      if (real.is_same(tensor)) return meta;
    }
    if (tensor.is_cuda()) device_ = tensor.device();
    auto meta = at::detail::make_tensor<c10::TensorImpl>(
        meta_storage(tensor), c10::DispatchKeySet(c10::DispatchKey::Meta), tensor.dtype());
    auto* impl = meta.unsafeGetTensorImpl();
    impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
    pairs_.emplace_back(tensor, meta);
    return meta;
  }

  at::Tensor from_meta(const at::Tensor& meta) {
    if (!meta.defined()) return meta;
    for (const auto& [real, known] : pairs_) {
      if (!known.is_same(meta)) continue;
      take_shape(real, meta);
      return real;
    }
    const auto shared = real_storages_.find(meta.storage().unsafeGetStorageImpl());
    if (shared != real_storages_.end()) {
      auto view = at::detail::make_tensor<c10::TensorImpl>(
          c10::Storage(shared->second), c10::DispatchKeySet(c10::DispatchKey::CUDA), meta.dtype());
      view.unsafeGetTensorImpl()->set_sizes_and_strides(meta.sizes(), meta.strides(),
                                                        meta.storage_offset());
      return view;
    }
    return new_strided(meta.sizes(), meta.strides(), meta.scalar_type(), device_);
  }

  void device_from(const c10::IValue& argument) { device_ = argument.toDevice(); }

 private:
  // An out= argument that the operation resized.
  static void take_shape(const at::Tensor& real, const at::Tensor& meta) {
    if (real.sizes() == meta.sizes() && real.strides() == meta.strides()) return;
    real.unsafeGetTensorImpl()->set_sizes_and_strides(meta.sizes(), meta.strides());
    grow_storage(real,
                 at::detail::computeStorageNbytes(meta.sizes(), meta.strides(),
                                                  real.dtype().itemsize(), real.storage_offset()));
  }

  c10::Storage meta_storage(const at::Tensor& tensor) {
    c10::Storage& meta = meta_storages_[tensor.storage().unsafeGetStorageImpl()];
    if (!meta) {
      meta = c10::Storage(c10::Storage::use_byte_size_t(), tensor.storage().nbytes(),
                          at::DataPtr(nullptr, at::kMeta), c10::GetAllocator(at::kMeta),
                          /*resizable=*/true);
      real_storages_.emplace(meta.unsafeGetStorageImpl(), tensor.storage());
    }
    return meta;
  }

  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;  // real, meta
  std::unordered_map<c10::StorageImpl*, c10::Storage> meta_storages_, real_storages_;
  at::Device device_ = kCard;
};

}  // namespace

bool has_shape_kernel(const c10::OperatorHandle& operation) {
  constexpr std::array<c10::DispatchKey, 4> kKeys = {
      c10::DispatchKey::Meta, c10::DispatchKey::CompositeImplicitAutograd,
      c10::DispatchKey::CompositeExplicitAutograd,
      c10::DispatchKey::CompositeExplicitAutogradNonFunctional};
  for (const c10::DispatchKey key : kKeys) {
    if (operation.hasKernelForDispatchKey(key)) return true;
  }
  return false;
}

void call_on_meta(const c10::OperatorHandle& operation, torch::jit::Stack& stack) {
  const size_t arguments = operation.schema().arguments().size();
  const size_t results = operation.schema().returns().size();
  Doubles doubles;
  for (size_t i = stack.size() - arguments; i < stack.size(); ++i) {
    c10::IValue& value = stack[i];
    if (value.isDevice()) {
      doubles.device_from(value);
      value = c10::IValue(at::Device(at::kMeta));
    } else if (value.isGenerator()) {
      value = c10::IValue();
    } else {
      value = map_tensors(value, [&](const at::Tensor& tensor) { return doubles.to_meta(tensor); });
    }
  }
  operation.callBoxed(&stack);
  for (size_t i = stack.size() - results; i < stack.size(); ++i) {
    stack[i] =
        map_tensors(stack[i], [&](const at::Tensor& tensor) { return doubles.from_meta(tensor); });
  }
}

void for_each_tensor(const c10::IValue& value,
                     const std::function<void(const at::Tensor&)>& visit) {
  map_tensors(value, [&](const at::Tensor& tensor) {
    if (tensor.defined()) visit(tensor);
    return tensor;
  });
}

}  // namespace precbench::train::simulated
