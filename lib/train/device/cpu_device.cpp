#include "train/device/cpu_device.h"

#include <ATen/Context.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "train/device/counting_allocator.h"

namespace precbench::train {
namespace {

struct CpuEvent : DeviceEvent {
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
};

// Every weight of every step passes here: with the widest vectors of the processor that runs
// it, 2.7 MB (`mlp`) take 20 to 40 us instead of 80.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define PRECBENCH_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PRECBENCH_WIDEST_VECTORS
#endif

// Whether an element's exponent bits are all set, that is infinity or NaN. Reads, and allocates
// nothing, so that it shows in no memory figure.
template <typename Bits>
inline __attribute__((always_inline)) bool any_all_set(const void* data, int64_t count,
                                                       Bits exponent) {
  const auto* bytes = static_cast<const char*>(data);
  Bits found = 0;  // as wide as what it is made from: a bool would have to be packed in every round
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + i * static_cast<int64_t>(sizeof(Bits)), sizeof(Bits));
    found = static_cast<Bits>(found | ((bits & exponent) == exponent ? 1U : 0U));
  }
  return found != 0;
}

PRECBENCH_WIDEST_VECTORS bool any_all_set_16(const void* data, int64_t count, uint16_t exponent) {
  return any_all_set<uint16_t>(data, count, exponent);
}

PRECBENCH_WIDEST_VECTORS bool any_all_set_32(const void* data, int64_t count, uint32_t exponent) {
  return any_all_set<uint32_t>(data, count, exponent);
}

PRECBENCH_WIDEST_VECTORS bool any_all_set_64(const void* data, int64_t count, uint64_t exponent) {
  return any_all_set<uint64_t>(data, count, exponent);
}

bool has_non_finite(const torch::Tensor& tensor) {
  const torch::Tensor dense = tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous();
  const void* data = dense.const_data_ptr();
  switch (dense.scalar_type()) {
    case at::kFloat:
      return any_all_set_32(data, dense.numel(), 0x7f800000U);
    case at::kDouble:
      return any_all_set_64(data, dense.numel(), 0x7ff0000000000000ULL);
    case at::kHalf:
      return any_all_set_16(data, dense.numel(), 0x7c00U);
    case at::kBFloat16:
      return any_all_set_16(data, dense.numel(), 0x7f80U);
    default:
      return !dense.isfinite().all().item<bool>();
  }
}

// "model name" of /proc/cpuinfo.
std::optional<std::string> processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with("model name") && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return std::nullopt;
}

}  // namespace

DeviceFacts CpuDevice::facts() const {
  DeviceFacts facts;
  facts.kind = "cpu";
  facts.name = processor_name().value_or("CPU");
  facts.unknown["compute_capability"] = "a property of CUDA devices";
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page_size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_size > 0) {
    facts.memory_bytes = pages * page_size;
  } else {
    facts.unknown["memory_bytes"] = "sysconf does not tell the size of the memory";
  }
  return facts;
}

void CpuDevice::set_memory_limit(int64_t bytes) { CountingAllocator::instance().set_limit(bytes); }

void CpuDevice::reset_peak_memory() { CountingAllocator::instance().reset_peak(); }

DeviceMemory CpuDevice::memory() const {
  const CountingAllocator& allocator = CountingAllocator::instance();
  DeviceMemory memory;
  memory.allocated_bytes = allocator.current();
  memory.peak_allocated_bytes = allocator.peak();
  memory.unknown["peak_reserved_bytes"] = "the CPU has no caching allocator";
  memory.unknown["device_used_bytes"] = "a CPU run; see host_peak_rss_bytes";
  return memory;
}

std::unique_ptr<DeviceEvent> CpuDevice::record_event() { return std::make_unique<CpuEvent>(); }

double CpuDevice::elapsed_ms(const DeviceEvent& from, const DeviceEvent& to) const {
  const auto span = static_cast<const CpuEvent&>(to).time - static_cast<const CpuEvent&>(from).time;
  return std::chrono::duration<double, std::milli>(span).count();
}

torch::Tensor CpuDevice::any_non_finite(const std::vector<torch::Tensor>& tensors) {
  bool found = false;
  for (const torch::Tensor& tensor : tensors) found = found || has_non_finite(tensor);
  return torch::scalar_tensor(found ? 1.0F : 0.0F, torch::kFloat);
}

void CpuDevice::set_deterministic(bool on) {
  at::globalContext().setDeterministicAlgorithms(on, /*warn_only=*/false);
  // Filling every empty() with NaN, on by default, would be part of what is timed.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

}  // namespace precbench::train
