#include "train/simulated_gpu/simulated_device.h"

#include <ATen/Context.h>
#include <c10/core/AutogradState.h>

#include <algorithm>
#include <cmath>

#include "common/errors.h"
#include "train/simulated_gpu/gpu.h"
#include "train/simulated_gpu/kernel_cost.h"
#include "train/simulated_gpu/registration.h"
#include "train/simulated_gpu/tensors.h"
#include "train/simulated_gpu/weightless.h"

namespace precbench::train::simulated {
namespace {

// When the card is done with what was issued before.
struct SimulatedEvent final : DeviceEvent {
  double seconds = gpu().timeline().mark();
};

// What the kernels of the recorded work take together. What it allocates comes from the
// allocator's pool of this graph, and is kept with it.
class SimulatedGraph final : public DeviceGraph {
 public:
  explicit SimulatedGraph(const std::function<void()>& work) : pool_(gpu().memory().new_pool()) {
    const auto memory = memory_scope();
    gpu().timeline().begin_recording();
    try {
      work();
    } catch (...) {
      gpu().timeline().end_recording();
      gpu().memory().free_pool(pool_);
      throw;
    }
    seconds_ = gpu().timeline().end_recording();
  }
  ~SimulatedGraph() override { gpu().memory().free_pool(pool_); }
  void replay() override { gpu().timeline().replay(seconds_); }
  std::shared_ptr<void> memory_scope() override {
    gpu().memory().use_pool(pool_);
    return {nullptr, [](void*) { gpu().memory().use_pool(CachingAllocator::kDefaultPool); }};
  }

 private:
  int pool_;
  double seconds_ = 0;
};

int64_t room_on(const GpuCard& card) { return card.memory_bytes() - card.context_bytes(); }

}  // namespace

SimulatedDevice::SimulatedDevice(const GpuCard& card) : card_(card) {
  register_simulated_gpu();
  gpu().insert(card);
  // The backward pass in this thread, too: a thread of autograd's own would release its last
  // tensors while this one goes on, and what fits just so would differ from run to run.
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

DeviceFacts SimulatedDevice::facts() const {
  DeviceFacts facts;
  facts.kind = "simulated";
  facts.name = card_.name;
  facts.compute_capability = std::to_string(card_.compute_capability / 10) + "." +
                             std::to_string(card_.compute_capability % 10);
  facts.memory_bytes = card_.memory_bytes();
  facts.more = {{"id", "simulated:" + std::string(card_.id)},
                {"context_bytes", card_.context_bytes()}};
  return facts;
}

std::optional<int64_t> SimulatedDevice::free_bytes() const {
  return room_on(card_) - gpu().memory().stats().allocated;
}

// The host's memory counts nothing, either.
torch::Tensor SimulatedDevice::host_buffer(at::IntArrayRef shape, at::ScalarType dtype) {
  return new_pinned(shape, dtype);
}

void SimulatedDevice::set_memory_limit(int64_t bytes) {
  gpu().memory().set_limit(std::min(bytes, room_on(card_)), std::string(card_.name));
}

void SimulatedDevice::empty_cache() { gpu().memory().empty_cache(); }
void SimulatedDevice::reset_peak_memory() { gpu().memory().reset_peak(); }

DeviceMemory SimulatedDevice::memory() const {
  gpu().memory().note_highest();
  const AllocatorStats stats = gpu().memory().stats();
  DeviceMemory memory;
  memory.allocated_bytes = stats.allocated;
  memory.peak_allocated_bytes = stats.peak_allocated;
  memory.reserved_bytes = stats.reserved;
  memory.peak_reserved_bytes = stats.peak_reserved;
  return memory;
}

std::optional<int64_t> SimulatedDevice::used_bytes() const {
  return gpu().memory().stats().reserved + card_.context_bytes();
}

void SimulatedDevice::synchronize() { gpu().timeline().wait_for(Wait::synchronize); }
double SimulatedDevice::host_seconds() const { return gpu().timeline().host_seconds(); }
std::optional<double> SimulatedDevice::least_busy_seconds() const {
  return gpu().timeline().least_seconds();
}

std::unique_ptr<DeviceEvent> SimulatedDevice::record_event() {
  return std::make_unique<SimulatedEvent>();
}

double SimulatedDevice::elapsed_ms(const DeviceEvent& from, const DeviceEvent& to) const {
  return 1e3 * (static_cast<const SimulatedEvent&>(to).seconds -
                static_cast<const SimulatedEvent&>(from).seconds);
}

std::unique_ptr<DeviceGraph> SimulatedDevice::record_graph(const std::function<void()>& work) {
  synchronize();
  empty_cache();
  return std::make_unique<SimulatedGraph>(work);
}

torch::Tensor SimulatedDevice::any_non_finite(const std::vector<torch::Tensor>& tensors) {
  Kernel kernel = kernel_of("aten::_foreach_norm", tensors, {});
  kernel.is_training = false;
  gpu().timeline().launch(kernel);
  bool found = false;
  for (const torch::Tensor& tensor : tensors) {
    gpu().values().for_each(address_of(tensor), static_cast<int64_t>(tensor.nbytes()),
                            [&](uint64_t, double value) { found |= !std::isfinite(value); });
  }
  return torch::full({}, found ? 1.0F : 0.0F, torch::TensorOptions().device(device()));
}

void SimulatedDevice::set_tf32(std::optional<bool> matmul, std::optional<bool> conv) {
  if (matmul) at::globalContext().setAllowTF32CuBLAS(*matmul);
  if (conv) at::globalContext().setAllowTF32CuDNN(*conv);
}
std::optional<bool> SimulatedDevice::tf32_matmul() const {
  return at::globalContext().allowTF32CuBLAS();
}
std::optional<bool> SimulatedDevice::tf32_conv() const {
  return at::globalContext().allowTF32CuDNN();
}

void SimulatedDevice::set_deterministic(bool on) {
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(on, /*warn_only=*/false);
  context.setDeterministicCuDNN(on);
  context.setDeterministicFillUninitializedMemory(false);
}
void SimulatedDevice::set_cudnn_benchmark(bool on) { at::globalContext().setBenchmarkCuDNN(on); }

std::shared_ptr<void> SimulatedDevice::weightless_scope() { return make_weightless_scope(); }

void SimulatedDevice::mark_memory(const torch::Tensor& tensor, MemoryUse use) {
  if (Block* block = block_of(tensor)) gpu().memory().mark(block, use);
}

void SimulatedDevice::mark_all_memory(MemoryUse use) { gpu().memory().mark_all(use); }

std::vector<int64_t> SimulatedDevice::peak_memory_split() const {
  const UseBytes split = gpu().memory().highest_split();
  return {split.begin(), split.end()};
}

std::unique_ptr<DeviceModule> open_simulated_device(const std::string& name) {
  const std::string id = name.substr(name.find(':') + 1);
  if (const GpuCard* card = find_gpu_card(id)) return std::make_unique<SimulatedDevice>(*card);
  std::string known;
  for (const std::string& card : gpu_card_ids()) known += " " + card;
  throw DeviceError("no simulated GPU '" + id + "'; there are:" + known);
}

}  // namespace precbench::train::simulated
