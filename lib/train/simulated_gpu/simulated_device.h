// The simulated implementation of DeviceModule: LibTorch's CUDA autocast, autograd and optimizers
// run as they are, kernels compute nothing, and every byte is counted as on the card.
#pragma once

#include "common/gpu_cards.h"
#include "train/device/device_module.h"

namespace precbench::train::simulated {

class SimulatedDevice : public DeviceModule {
 public:
  explicit SimulatedDevice(const GpuCard& card);  // throws DeviceError

  torch::Device device() const override { return {torch::kCUDA, 0}; }
  DeviceFacts facts() const override;
  void preflight() override {}
  void synchronize() override;
  double host_seconds() const override;
  std::optional<int64_t> free_bytes() const override;
  torch::Tensor host_buffer(at::IntArrayRef shape, at::ScalarType dtype) override;
  void set_memory_limit(int64_t bytes) override;
  void empty_cache() override;
  void reset_peak_memory() override;
  DeviceMemory memory() const override;
  std::optional<int64_t> used_bytes() const override;
  std::unique_ptr<DeviceEvent> record_event() override;
  double elapsed_ms(const DeviceEvent& from, const DeviceEvent& to) const override;
  torch::Tensor any_non_finite(const std::vector<torch::Tensor>& tensors) override;
  int64_t readback_interval_ms() const override { return 500; }  // as a real card
  void set_tf32(std::optional<bool> matmul, std::optional<bool> conv) override;
  std::optional<bool> tf32_matmul() const override;
  std::optional<bool> tf32_conv() const override;
  bool has_graphs() const override { return true; }
  std::unique_ptr<DeviceGraph> record_graph(const std::function<void()>& work) override;
  void set_deterministic(bool on) override;
  void set_cudnn_benchmark(bool on) override;

  bool is_simulated() const override { return true; }
  std::optional<double> least_busy_seconds() const override;
  std::shared_ptr<void> weightless_scope() override;
  void mark_memory(const torch::Tensor& tensor, MemoryUse use) override;
  void mark_all_memory(MemoryUse use) override;
  std::vector<int64_t> peak_memory_split() const override;

 private:
  const GpuCard& card_;
};

// "simulated:t4"; throws DeviceError naming the cards there are.
std::unique_ptr<DeviceModule> open_simulated_device(const std::string& name);

}  // namespace precbench::train::simulated
