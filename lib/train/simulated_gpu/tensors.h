// Tensors of the simulated device: their storages are blocks of the modelled allocator, with
// addresses that nothing may read.
#pragma once

#include <initializer_list>

#include "train/base/torch.h"
#include "train/simulated_gpu/caching_allocator.h"

namespace precbench::train::simulated {

// Two devices: the card, and one whose tensors take no memory (DeviceModule::weightless_scope).
inline const at::Device kCard{at::kCUDA, 0};
inline const at::Device kWeightless{at::kCUDA, 1};

c10::Allocator* storage_allocator(at::Device device);

at::Tensor new_tensor(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device,
                      std::optional<at::MemoryFormat> format = std::nullopt);
at::Tensor new_strided(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType dtype,
                       at::Device device);

// On the device of `beside`.
at::Tensor new_beside(const at::Tensor& beside, at::IntArrayRef sizes, at::ScalarType dtype);
at::Tensor new_beside(const at::Tensor& beside, at::IntArrayRef sizes);  // and of its dtype

// at::empty_like: with the strides of a dense tensor, else contiguous.
at::Tensor new_like(const at::Tensor& tensor);

// Memory that a kernel takes at once and gives back when it ends.
void take_scratch(const at::Tensor& beside, std::initializer_list<int64_t> bytes);

// The block of a tensor on the card; null elsewhere and for an empty tensor.
Block* block_of(const at::Tensor& tensor);

// A weightless tensor that stands for pinned memory of the host, from which the card copies without
// making the host wait.
at::Tensor new_pinned(at::IntArrayRef sizes, at::ScalarType dtype);
bool is_pinned(const at::Tensor& tensor);

// Where the tensor's first element would be.
uint64_t address_of(const at::Tensor& tensor);

// Makes the storage at least as large as sizes and strides need, as resize_ does: by a new block.
void grow_storage(const at::Tensor& tensor, size_t bytes);

// at::empty_like(...).contiguous(): what a kernel copies its input to when that is not contiguous.
void copy_if_not_contiguous(const at::Tensor& tensor);

}  // namespace precbench::train::simulated
