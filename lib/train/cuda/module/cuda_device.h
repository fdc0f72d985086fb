// The CUDA implementation of DeviceModule. Only c10's CUDA headers and the runtime are used, which
// the wheels bring with them; ATen/cuda/CUDAContext.h would need a toolkit.
#pragma once

#include "train/device/device_module.h"

namespace precbench::train {

class CudaDevice final : public DeviceModule {
 public:
  explicit CudaDevice(int index);  // throws DeviceError

  torch::Device device() const override {
    return {torch::kCUDA, static_cast<torch::DeviceIndex>(index_)};
  }
  DeviceFacts facts() const override;
  void preflight() override;
  void synchronize() override;
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
  int64_t readback_interval_ms() const override;
  void set_tf32(std::optional<bool> matmul, std::optional<bool> conv) override;
  std::optional<bool> tf32_matmul() const override;
  std::optional<bool> tf32_conv() const override;
  bool has_graphs() const override { return true; }
  void prepare_for_graphs() override;
  std::unique_ptr<DeviceGraph> record_graph(const std::function<void()>& work) override;
  void set_deterministic(bool on) override;
  void set_cudnn_benchmark(bool on) override;

 private:
  int index_;
};

}  // namespace precbench::train
