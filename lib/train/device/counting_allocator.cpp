#include "train/device/counting_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>

#include <cstring>
#include <iomanip>
#include <sstream>
#include <string>

namespace precbench::train {
namespace {

// The size of a block stands in front of it; so much room keeps the block itself aligned.
constexpr size_t kHeader = c10::gAlignment;
static_assert(kHeader >= sizeof(int64_t));

// "3.5 MiB", "12 KiB"
std::string size_text(int64_t bytes) {
  const bool is_small = bytes < (int64_t{1} << 20);
  std::ostringstream text;
  text << std::fixed << std::setprecision(1)
       << static_cast<double>(bytes) / (is_small ? 0x1p10 : 0x1p20);
  return text.str() + (is_small ? " KiB" : " MiB");
}

}  // namespace

CountingAllocator::CountingAllocator() : system_(c10::GetDefaultCPUAllocator()) {}

CountingAllocator& CountingAllocator::instance() {
  static CountingAllocator* const allocator = new CountingAllocator;  // outlives every tensor
  return *allocator;
}

void CountingAllocator::install() {
  constexpr uint8_t kOverDefault = 1;
  c10::SetCPUAllocator(&instance(), kOverDefault);
}

c10::DataPtr CountingAllocator::allocate(size_t bytes) {
  if (bytes == 0) return {nullptr, nullptr, &release, c10::Device(c10::DeviceType::CPU)};
  const int64_t size = Uncounted::depth() > 0 ? 0 : static_cast<int64_t>(bytes);
  const int64_t now = current_.fetch_add(size) + size;
  const int64_t limit = limit_.load(std::memory_order_relaxed);
  if (limit > 0 && size > 0 && now > limit) {
    current_.fetch_sub(size);
    const int64_t before = before_limit_.load(std::memory_order_relaxed);
    TORCH_CHECK_WITH(OutOfMemoryError, false, "an allocation of ", size_text(size), " on top of ",
                     size_text(now - size - before), " goes over the memory limit of ",
                     size_text(limit - before), " (", size_text(before),
                     " that were there before, as the data set, do not count)");
  }
  void* block = nullptr;
  try {
    block = system_->raw_allocate(bytes + kHeader);
  } catch (const c10::Error& error) {  // the default allocator throws its base class
    current_.fetch_sub(size);
    TORCH_CHECK_WITH(OutOfMemoryError, false, error.what_without_backtrace());
  }
  std::memcpy(block, &size, sizeof size);
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
  void* data = static_cast<char*>(block) + kHeader;
  // The context must be the data pointer itself: raw_allocate(), which LibTorch's kernels use,
  // insists on it.
  return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
}

void CountingAllocator::release(void* data) {
  if (data == nullptr) return;
  void* block = static_cast<char*>(data) - kHeader;
  int64_t size = 0;
  std::memcpy(&size, block, sizeof size);
  instance().current_.fetch_sub(size);
  instance().system_->raw_deallocate(block);
}

c10::DeleterFnPtr CountingAllocator::raw_deleter() const { return &release; }

void CountingAllocator::copy_data(void* destination, const void* source, size_t bytes) const {
  default_copy_data(destination, source, bytes);
}

}  // namespace precbench::train
