// The CPU as a device of the training loop. Its memory figures need the counting allocator
// (measure/counting_allocator.h).
#pragma once

#include <chrono>

#include "train/device/device_module.h"

namespace precbench::train {

class CpuDevice : public DeviceModule {
 public:
  torch::Device device() const override { return torch::kCPU; }
  DeviceFacts facts() const override;
  void preflight() override {}
  void synchronize() override {}
  std::optional<int64_t> free_bytes() const override { return std::nullopt; }
  torch::Tensor host_buffer(at::IntArrayRef shape, at::ScalarType dtype) override {
    return at::empty(shape, dtype);
  }
  void set_memory_limit(int64_t bytes) override;
  void empty_cache() override {}
  void reset_peak_memory() override;
  DeviceMemory memory() const override;
  std::unique_ptr<DeviceEvent> record_event() override;
  double elapsed_ms(const DeviceEvent& from, const DeviceEvent& to) const override;
  torch::Tensor any_non_finite(const std::vector<torch::Tensor>& tensors) override;
  int64_t readback_interval_ms() const override { return 0; }
  void set_tf32(std::optional<bool> /*matmul*/, std::optional<bool> /*conv*/) override {}
  std::optional<bool> tf32_matmul() const override { return std::nullopt; }
  std::optional<bool> tf32_conv() const override { return std::nullopt; }
  void set_deterministic(bool on) override;
  void set_cudnn_benchmark(bool /*on*/) override {}
};

}  // namespace precbench::train
