#include "train/simulated_gpu/tensors.h"

#include <ATen/EmptyTensor.h>

#include <atomic>

#include "train/simulated_gpu/gpu.h"

namespace precbench::train::simulated {
namespace {

// Autograd is on in a training forward pass, and off in the backward pass, in the optimizer's step
// and in evaluation.
MemoryUse use_of_new_memory() {
  return at::GradMode::is_enabled() ? MemoryUse::activations : MemoryUse::temporaries;
}

void release_nothing(void* /*context*/) {}

void release_block(void* context) {
  auto* block = static_cast<Block*>(context);
  gpu().values().forget(block->address, block->size);
  gpu().memory().release(block);
}

class CardAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release_nothing, kCard};
    try {
      Block* block = gpu().memory().allocate(static_cast<int64_t>(bytes), use_of_new_memory());
      return {reinterpret_cast<void*>(block->address), block, &release_block, kCard};
    } catch (const OutOfMemory& error) {
      TORCH_CHECK_WITH(OutOfMemoryError, false, error.what());
    }
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* /*to*/, const void* /*from*/, size_t /*bytes*/) const override {}
};

class WeightlessAllocator final : public c10::Allocator {
 public:
  explicit WeightlessAllocator(uint64_t first_address) : next_address_(first_address) {}
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release_nothing, kWeightless};
    const uint64_t address = next_address_.fetch_add(bytes + 1);
    return {reinterpret_cast<void*>(address), nullptr, &release_nothing, kWeightless};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* /*to*/, const void* /*from*/, size_t /*bytes*/) const override {}

 private:
  std::atomic<uint64_t> next_address_;
};

// Beside the card's own, from 2^44 on.
constexpr uint64_t kWeightlessAddresses = uint64_t{1} << 45, kPinnedAddresses = uint64_t{1} << 46;

constexpr c10::DispatchKeySet kCudaKey{c10::DispatchKey::CUDA};

}  // namespace

// Never destroyed, as the tensors that may outlive main need them.
c10::Allocator* storage_allocator(at::Device device) {
  static auto* const card = new CardAllocator;
  static auto* const weightless = new WeightlessAllocator(kWeightlessAddresses);
  if (device.index() == kWeightless.index()) return weightless;
  return card;
}

at::Tensor new_tensor(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device,
                      std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, storage_allocator(device), kCudaKey, dtype, format);
}

at::Tensor new_strided(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType dtype,
                       at::Device device) {
  return at::detail::empty_strided_generic(sizes, strides, storage_allocator(device), kCudaKey,
                                           dtype);
}

at::Tensor new_beside(const at::Tensor& beside, at::IntArrayRef sizes, at::ScalarType dtype) {
  return new_tensor(sizes, dtype, beside.device());
}

at::Tensor new_beside(const at::Tensor& beside, at::IntArrayRef sizes) {
  return new_tensor(sizes, beside.scalar_type(), beside.device());
}

at::Tensor new_like(const at::Tensor& tensor) {
  if (!tensor.is_non_overlapping_and_dense()) return new_beside(tensor, tensor.sizes());
  return new_strided(tensor.sizes(), tensor.strides(), tensor.scalar_type(), tensor.device());
}

void take_scratch(const at::Tensor& beside, std::initializer_list<int64_t> bytes) {
  if (beside.device() != kCard) return;
  std::vector<Block*> blocks;
  const auto give_back = [&blocks] {
    for (Block* block : blocks) gpu().memory().release(block);
  };
  try {
    for (const int64_t size : bytes) {
      if (size > 0) blocks.push_back(gpu().memory().allocate(size, MemoryUse::workspace));
    }
  } catch (const OutOfMemory& error) {
    give_back();
    TORCH_CHECK_WITH(OutOfMemoryError, false, error.what());
  }
  give_back();
}

Block* block_of(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.device() != kCard) return nullptr;
  const c10::DataPtr& data = tensor.storage().data_ptr();
  return data.get_deleter() == &release_block ? static_cast<Block*>(data.get_context()) : nullptr;
}

at::Tensor new_pinned(at::IntArrayRef sizes, at::ScalarType dtype) {
  static auto* const pinned = new WeightlessAllocator(kPinnedAddresses);
  return at::detail::empty_generic(sizes, pinned, kCudaKey, dtype, std::nullopt);
}

bool is_pinned(const at::Tensor& tensor) {
  return tensor.device() == kWeightless && address_of(tensor) >= kPinnedAddresses;
}

uint64_t address_of(const at::Tensor& tensor) {
  const auto base = reinterpret_cast<uint64_t>(tensor.storage().data_ptr().get());
  return base + static_cast<uint64_t>(tensor.storage_offset() * tensor.element_size());
}

void grow_storage(const at::Tensor& tensor, size_t bytes) {
  c10::Storage storage = tensor.storage();
  if (bytes <= storage.nbytes()) return;
  storage.set_data_ptr_noswap(storage_allocator(tensor.device())->allocate(bytes));
  storage.set_nbytes(bytes);
}

void copy_if_not_contiguous(const at::Tensor& tensor) {
  if (tensor.is_contiguous()) return;
  take_scratch(tensor, {static_cast<int64_t>(tensor.numel() * tensor.element_size())});
}

}  // namespace precbench::train::simulated
