// A DeviceModule that calls itself a CUDA card and computes on the CPU, so that everything the
// worker does for a card (peaks, events, out of memory, a kernel image that is missing) runs in
// tests without one.
//   FAKE_CUDA_CARD    "<name>|<compute capability>|<memory in bytes>"
//   FAKE_CUDA_FREE    bytes of it that are free; default: all
//   FAKE_CUDA_KERNEL  "missing": the first kernel fails as on a card that the LibTorch has no code
//   for
//   FAKE_CUDA_GRAPH   "fails": no step can be recorded
//   FAKE_CUDA_FIRST_USE  the error of the first CUDA call
//   FAKE_CUDA_ALLOCATION "<bytes>|<error>": what is thrown once so much is allocated
//   FAKE_CUDA_HANGS   seconds that the first kernel takes, if the file FAKE_CUDA_HANGS_ONCE is
//   there (it is removed)
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "../kept_work.h"
#include "common/errors.h"
#include "train/device/counting_allocator.h"
#include "train/device/cpu_device.h"
#include "train/device/driver.h"

namespace precbench::train {
namespace {

constexpr int64_t kSegmentBytes =
    int64_t{2} << 20;  // the caching allocator reserves in segments of 2 MiB and more

std::string part(const std::string& text, int index) {
  size_t start = 0;
  for (; index > 0; --index) start = text.find('|', start) + 1;
  return text.substr(start, text.find('|', start) - start);
}

std::string card() {
  const char* text = std::getenv("FAKE_CUDA_CARD");
  return text == nullptr ? "Tesla T4|7.5|15655829504" : text;
}

int64_t rounded_up(int64_t bytes) {
  return (bytes + kSegmentBytes - 1) / kSegmentBytes * kSegmentBytes;
}

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

class FakeCuda final : public CpuDevice {
 public:
  explicit FakeCuda(std::string id) : id_(std::move(id)) {
    const std::string refused = variable("FAKE_CUDA_FIRST_USE");
    TORCH_CHECK(refused.empty(), refused);
    CountingAllocator::instance().set_limit(std::atoll(part(card(), 2).c_str()));
  }

  bool is_cpu() const override { return false; }
  DeviceFacts facts() const override {
    DeviceFacts facts;
    facts.kind = "cuda";
    facts.name = part(card(), 0);
    facts.compute_capability = part(card(), 1);
    facts.memory_bytes = std::atoll(part(card(), 2).c_str());
    const CardFacts told = read_card_facts(0);
    facts.more = {{"id", id_},
                  {"uuid", "GPU-aaaa"},
                  {"pci_bus_id", told.pci_bus_id},
                  {"driver_says",
                   {told.name, told.uuid, told.memory_bytes, told.major, told.minor,
                    told.multiprocessors, told.sm_clock_khz, told.memory_clock_khz, told.has_ecc}},
                  {"architectures", {"sm_75", "sm_80", "sm_90"}},
                  {"driver_cuda_version", 13000}};
    return facts;
  }
  std::optional<int64_t> free_bytes() const override {
    const char* free = std::getenv("FAKE_CUDA_FREE");
    return std::atoll(free == nullptr ? part(card(), 2).c_str() : free);
  }
  void preflight() override {
    const std::string once = variable("FAKE_CUDA_HANGS_ONCE");
    if (!once.empty() && std::remove(once.c_str()) == 0) {
      sleep(static_cast<unsigned>(std::atoi(variable("FAKE_CUDA_HANGS").c_str())));
    }
    const char* kernel = std::getenv("FAKE_CUDA_KERNEL");
    if (kernel == nullptr || std::string(kernel) != "missing") return;
    throw DeviceError(
        preflight_failure("CUDA error: no kernel image is available for execution on the "
                          "device\nCUDA kernel errors might be",
                          part(card(), 0), part(card(), 1), "sm_75 sm_80 sm_90"));
  }
  // Every step records one: where an allocation is made to fail.
  std::unique_ptr<DeviceEvent> record_event() override {
    const std::string refusal = variable("FAKE_CUDA_ALLOCATION");
    const bool is_full =
        !refusal.empty() && memory().peak_allocated_bytes > std::atoll(part(refusal, 0).c_str());
    TORCH_CHECK(!is_full, part(refusal, 1));
    return CpuDevice::record_event();
  }
  DeviceMemory memory() const override {
    DeviceMemory memory = CpuDevice::memory();
    memory.unknown.clear();
    memory.reserved_bytes = rounded_up(memory.allocated_bytes);
    memory.peak_reserved_bytes = rounded_up(memory.peak_allocated_bytes);
    return memory;
  }
  std::optional<int64_t> used_bytes() const override {
    return *memory().peak_reserved_bytes + (int64_t{300} << 20);  // and a context
  }
  bool has_graphs() const override { return true; }
  std::unique_ptr<DeviceGraph> record_graph(const std::function<void()>& work) override {
    const char* graph = std::getenv("FAKE_CUDA_GRAPH");
    if (graph != nullptr && std::string(graph) == "fails") {
      throw std::runtime_error("CUDA error: operation not permitted when stream is capturing");
    }
    return std::make_unique<KeptWork>(work);
  }
  void set_tf32(std::optional<bool> matmul, std::optional<bool> conv) override {
    if (matmul) matmul_ = *matmul;
    if (conv) conv_ = *conv;
  }
  std::optional<bool> tf32_matmul() const override { return matmul_; }
  std::optional<bool> tf32_conv() const override { return conv_; }

 private:
  std::string id_;
  bool matmul_ = false, conv_ = true;  // PyTorch's defaults
};

}  // namespace
}  // namespace precbench::train

extern "C" precbench::train::DeviceModule* precbench_open_device(const std::string& name) {
  return new precbench::train::FakeCuda(name == "cuda" ? "cuda:0" : name);
}
