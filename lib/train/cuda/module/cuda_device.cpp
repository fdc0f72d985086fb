#include "train/cuda/module/cuda_device.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Event.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>

#include "common/errors.h"
#include "train/device/architectures.h"
#include "train/device/driver.h"

namespace precbench::train {
namespace {

// Of the CUDA runtime only functions that are the same in every CUDA are called: the module is
// built with one and runs with each that a LibTorch release is built for.
namespace allocator = c10::cuda::CUDACachingAllocator;

// Losses are copied back this often, asynchronously enough: one wait of some microseconds in half a
// second.
constexpr int64_t kReadbackIntervalMs = 500;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw DeviceError(std::string(what) + ": " + cudaGetErrorString(status));
}

class CudaEvent final : public DeviceEvent {
 public:
  void record() { event_.record(c10::cuda::getCurrentCUDAStream().unwrap()); }
  double elapsed_ms(const CudaEvent& to) const { return event_.elapsedTime(to.event_); }

 private:
  c10::Event event_{c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT};  // that is: with times
};

// While it lives, what this stream allocates comes from the graph's pool. The stream is the one
// that the graph was recorded on and is replayed on, so that the two never run at the same time.
class PoolScope {
 public:
  PoolScope(c10::DeviceIndex device, c10::MempoolId_t pool) : device_(device), pool_(pool) {
    const cudaStream_t own = c10::cuda::getCurrentCUDAStream(device).stream();
    allocator::beginAllocateToPool(device_, pool_,
                                   [own](cudaStream_t used) { return used == own; });
  }
  ~PoolScope() {
    allocator::endAllocateToPool(device_, pool_);
    allocator::releasePool(device_, pool_);  // begin counts a user of the pool
  }
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

 private:
  c10::DeviceIndex device_;
  c10::MempoolId_t pool_;
};

class CudaGraph final : public DeviceGraph {
 public:
  CudaGraph(c10::DeviceIndex device, const std::function<void()>& work) : device_(device) {
    graph_.capture_begin();
    try {
      work();
    } catch (...) {
      // The stream would go on recording. That this fails as well is the rule: the recording is
      // spoilt already.
      try {
        graph_.capture_end();
      } catch (const std::exception&) {
      }
      throw;
    }
    graph_.capture_end();
  }
  void replay() override { graph_.replay(); }
  std::shared_ptr<void> memory_scope() override {
    return std::make_shared<PoolScope>(device_, graph_.pool());
  }

 private:
  c10::DeviceIndex device_;
  at::cuda::CUDAGraph graph_;
};

std::string capability(const CardFacts& card) {
  return std::to_string(card.major) + "." + std::to_string(card.minor);
}

// 13000 is "13.0".
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// 91002 is "9.10.2" (cuDNN 9 and newer: major * 10000 + minor * 100 + patch).
std::string cudnn_text() {
  const long version = at::detail::getCUDAHooks().versionCuDNN();
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

constexpr auto kAggregate = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

}  // namespace

CudaDevice::CudaDevice(int index) : index_(index) {
  // Initialises the runtime through LibTorch's own checks, so that its caching allocator knows the
  // device.
  if (c10::cuda::device_count() <= index) {
    throw DeviceError("LibTorch sees " + std::to_string(c10::cuda::device_count()) +
                      " CUDA devices; cuda:" + std::to_string(index) + " is not among them");
  }
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
}

DeviceFacts CudaDevice::facts() const {
  const CardFacts card = read_card_facts(index_);
  DeviceFacts facts;
  facts.kind = "cuda";
  facts.name = card.name;
  facts.compute_capability = capability(card);
  facts.memory_bytes = card.memory_bytes;
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  facts.more = {{"id", "cuda:" + std::to_string(index_)},
                {"uuid", card.uuid},
                {"multiprocessors", card.multiprocessors},
                {"sm_clock_khz", card.sm_clock_khz},
                {"memory_clock_khz", card.memory_clock_khz},
                {"ecc", card.has_ecc},
                {"pci_bus_id", card.pci_bus_id},
                {"driver_cuda", version_text(driver)},
                {"cuda", version_text(runtime)},
                {"cudnn", cudnn_text()},
                {"architectures", architectures_of(at::show_config())}};
  return facts;
}

void CudaDevice::preflight() {
  try {
    torch::ones({1}, torch::TensorOptions().device(device())).add_(1);
    synchronize();
  } catch (const std::exception& error) {
    const CardFacts card = read_card_facts(index_);
    std::string held;
    for (const std::string& name : architectures_of(at::show_config()))
      held += (held.empty() ? "" : " ") + name;
    throw DeviceError(preflight_failure(error.what(), card.name, capability(card), held));
  }
}

void CudaDevice::synchronize() { c10::cuda::device_synchronize(); }

std::optional<int64_t> CudaDevice::free_bytes() const {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  return static_cast<int64_t>(free_bytes);
}

// Pinned. LibTorch's allocator of such memory waits for a block's copies before it gives it away
// again.
torch::Tensor CudaDevice::host_buffer(at::IntArrayRef shape, at::ScalarType dtype) {
  return at::empty(shape, at::TensorOptions().dtype(dtype).pinned_memory(true));
}

// The allocator knows it as a share of the device, and holds what it reserves to it.
void CudaDevice::set_memory_limit(int64_t bytes) {
  const double total = static_cast<double>(read_card_facts(index_).memory_bytes);
  allocator::setMemoryFraction(std::min(1.0, static_cast<double>(bytes) / total),
                               static_cast<c10::DeviceIndex>(index_));
}

void CudaDevice::empty_cache() { allocator::emptyCache(); }

void CudaDevice::reset_peak_memory() {
  allocator::resetPeakStats(static_cast<c10::DeviceIndex>(index_));
}

DeviceMemory CudaDevice::memory() const {
  const auto stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(index_));
  DeviceMemory memory;
  memory.allocated_bytes = stats.allocated_bytes[kAggregate].current;
  memory.peak_allocated_bytes = stats.allocated_bytes[kAggregate].peak;
  memory.reserved_bytes = stats.reserved_bytes[kAggregate].current;
  memory.peak_reserved_bytes = stats.reserved_bytes[kAggregate].peak;
  return memory;
}

std::optional<int64_t> CudaDevice::used_bytes() const {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) return std::nullopt;
  return static_cast<int64_t>(total_bytes - free_bytes);
}

std::unique_ptr<DeviceEvent> CudaDevice::record_event() {
  auto event = std::make_unique<CudaEvent>();
  event->record();
  return event;
}

double CudaDevice::elapsed_ms(const DeviceEvent& from, const DeviceEvent& to) const {
  return static_cast<const CudaEvent&>(from).elapsed_ms(static_cast<const CudaEvent&>(to));
}

torch::Tensor CudaDevice::any_non_finite(const std::vector<torch::Tensor>& tensors) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> largest;
  for (const torch::Tensor& norm :
       at::_foreach_norm(tensors, std::numeric_limits<double>::infinity())) {
    largest.push_back(norm.to(torch::kFloat));
  }
  if (largest.empty()) return torch::zeros({}, torch::TensorOptions().device(device()));
  return at::stack(largest).isfinite().all().logical_not().to(torch::kFloat);
}

int64_t CudaDevice::readback_interval_ms() const { return kReadbackIntervalMs; }

// The legacy pair of setters alone: mixed with the newer per-operator ones, LibTorch throws inside
// of operators.
void CudaDevice::set_tf32(std::optional<bool> matmul, std::optional<bool> conv) {
  if (matmul) at::globalContext().setAllowTF32CuBLAS(*matmul);
  if (conv) at::globalContext().setAllowTF32CuDNN(*conv);
}

std::optional<bool> CudaDevice::tf32_matmul() const {
  return at::globalContext().allowTF32CuBLAS();
}
std::optional<bool> CudaDevice::tf32_conv() const { return at::globalContext().allowTF32CuDNN(); }

void CudaDevice::prepare_for_graphs() {
  synchronize();
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(
      /*isHighPriority=*/false, static_cast<c10::DeviceIndex>(index_)));
}

std::unique_ptr<DeviceGraph> CudaDevice::record_graph(const std::function<void()>& work) {
  synchronize();
  allocator::emptyCache();  // what is cached is of no use to the graph, which has a pool of its own
  return std::make_unique<CudaGraph>(static_cast<c10::DeviceIndex>(index_), work);
}

void CudaDevice::set_deterministic(bool on) {
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(on, /*warn_only=*/false);
  context.setDeterministicCuDNN(on);
  // Filling every empty() with NaN, on by default, would be part of what is timed.
  context.setDeterministicFillUninitializedMemory(false);
}

void CudaDevice::set_cudnn_benchmark(bool on) { at::globalContext().setBenchmarkCuDNN(on); }

}  // namespace precbench::train

extern "C" __attribute__((visibility("default"))) precbench::train::DeviceModule*
precbench_open_device(const std::string& name) {
  const size_t colon = name.find(':');
  return new precbench::train::CudaDevice(
      colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1));
}
