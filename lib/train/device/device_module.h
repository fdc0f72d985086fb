// What the training loop asks of the device it runs on, so that it never asks which one that is.
// The CPU's implementation is device/cpu_device.h; CUDA's is a module of its own (loaded at run
// time, since the worker itself must start where no driver is), and tests implement a fake.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/json_fields.h"
#include "train/base/torch.h"

namespace precbench::train {

struct DeviceFacts {
  std::string kind;  // cpu | cuda
  std::string name;
  std::optional<std::string> compute_capability;  // "7.5"
  std::optional<int64_t> memory_bytes;            // of the whole device
  json more = json::object();                     // uuid, multiprocessors, driver, ... as known
  Unknowns unknown;
};

// {kind, name, compute_capability, memory_bytes, unknown} and the members of `more`.
json to_json(const DeviceFacts& facts);

// Bytes of tensors on the device, as its allocator counts them.
struct DeviceMemory {
  int64_t allocated_bytes = 0;
  int64_t peak_allocated_bytes = 0;  // since reset_peak_memory()
  std::optional<int64_t> reserved_bytes, peak_reserved_bytes;
  Unknowns unknown;  // of peak_reserved_bytes and device_used_bytes
};

// What device memory is used for; a simulated device splits its peak by it.
enum class MemoryUse {
  resident,  // the data set and other things that were there before the model
  weights,   // parameters and buffers
  gradients,
  optimizer,    // momentum, moments
  activations,  // batches, and what the forward pass leaves for the backward pass
  autocast,     // casts of weights
  workspace,    // of matrix products and attention
  temporaries   // of the backward pass, the optimizer and evaluation
};
inline constexpr size_t kMemoryUses = 8;

// "weights", "autocast"
std::string_view name_of(MemoryUse use);

// A point in the device's work; see DeviceModule::record_event().
class DeviceEvent {
 public:
  DeviceEvent() = default;
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  virtual ~DeviceEvent() = default;
};

// Work that the device does again as it was recorded, on the same memory; see
// DeviceModule::record_graph().
class DeviceGraph {
 public:
  DeviceGraph() = default;
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;
  virtual ~DeviceGraph() = default;
  virtual void replay() = 0;  // does not wait for it

  // While the result lives, tensors are made in the memory that the recorded work needs only while
  // it runs; without it they would need as much again beside it. They may not outlive a replay.
  virtual std::shared_ptr<void> memory_scope() { return nullptr; }
};

class DeviceModule {
 public:
  DeviceModule() = default;
  DeviceModule(const DeviceModule&) = delete;
  DeviceModule& operator=(const DeviceModule&) = delete;
  virtual ~DeviceModule() = default;

  virtual torch::Device device() const = 0;

  // Whether the rules of CPUs apply (which precision runs as which, which kernels there are).
  virtual bool is_cpu() const { return device().is_cpu(); }
  virtual DeviceFacts facts() const = 0;

  // Launches one small kernel and waits for it. Throws DeviceError (common/errors.h) saying what is
  // missing: a driver, its version, a library, a kernel image for this card.
  virtual void preflight() = 0;

  virtual void synchronize() = 0;

  // What a clock on the wall shows to this process, in seconds from some moment on; a simulated
  // device has a time of its own.
  virtual double host_seconds() const;

  // Bytes that tensors could still take; nothing where the samples lie in the device's memory
  // anyway.
  virtual std::optional<int64_t> free_bytes() const = 0;
  // A new tensor in host memory from which the device copies without making the caller wait; its
  // memory is not given to another tensor before such a copy has been done.
  virtual torch::Tensor host_buffer(at::IntArrayRef shape, at::ScalarType dtype) = 0;

  // What may be reserved for tensors from now on; more is an out-of-memory error. A caching
  // allocator reserves in segments, so that tensors alone may take less (up to 20 MiB on CUDA).
  virtual void set_memory_limit(int64_t bytes) = 0;

  // Gives cached blocks back, so that a peak starts from what is in use.
  virtual void empty_cache() = 0;
  virtual void reset_peak_memory() = 0;
  // Asks the allocator alone: cheap enough for the middle of a step.
  virtual DeviceMemory memory() const = 0;
  // Of the whole device, by all processes. Asks the driver, which may wait for the device.
  virtual std::optional<int64_t> used_bytes() const { return std::nullopt; }

  // Marks the end of the work issued so far, without waiting for it.
  virtual std::unique_ptr<DeviceEvent> record_event() = 0;

  // Milliseconds between two events. Called after synchronize().
  virtual double elapsed_ms(const DeviceEvent& from, const DeviceEvent& to) const = 0;

  // A float32 scalar on the device: 1 if an element of these floating tensors is not finite, else
  // 0. Must neither change them nor wait.
  virtual torch::Tensor any_non_finite(const std::vector<torch::Tensor>& tensors) = 0;

  // Milliseconds between two readings of losses from the device while it trains: 0 where reading
  // waits for nothing, else long enough not to be seen in the step times.
  virtual int64_t readback_interval_ms() const = 0;

  // Nothing = PyTorch's default (matmul off, conv on). CUDA: the legacy pair of setters only.
  virtual void set_tf32(std::optional<bool> matmul, std::optional<bool> conv) = 0;
  // What is in force; nothing where the device has no TF32.
  virtual std::optional<bool> tf32_matmul() const = 0;
  virtual std::optional<bool> tf32_conv() const = 0;

  virtual bool has_graphs() const { return false; }
  // Called before the first work that a graph is going to rest on: all work goes from now on to a
  // stream that can be recorded, which CUDA's default stream cannot.
  virtual void prepare_for_graphs() {}
  // Calls `work` once and records what it issues, without doing it. `work` may not wait for the
  // device, read from it or issue anything to it that depends on values. What it allocates stays
  // taken as long as the graph lives. Throws what `work` throws; then the device may be unusable.
  virtual std::unique_ptr<DeviceGraph> record_graph(const std::function<void()>& /*work*/) {
    throw std::logic_error("this device has no graphs");
  }

  virtual void set_deterministic(bool on) = 0;
  virtual void set_cudnn_benchmark(bool on) = 0;

  // Whether the device counts bytes and computes nothing, so that times, losses and accuracies mean
  // nothing. The members below do something on such a device only.
  virtual bool is_simulated() const { return false; }
  // Seconds that no such device could do the work in that it was given so far, by its data sheet;
  // nothing where there is none.
  virtual std::optional<double> least_busy_seconds() const { return std::nullopt; }
  // Tensors that are made without naming a device while the result lives take no memory anywhere
  // and are filled in no time; moved to device(), they take what real ones would.
  virtual std::shared_ptr<void> weightless_scope() { return nullptr; }
  virtual void mark_memory(const torch::Tensor& /*tensor*/, MemoryUse /*use*/) {}
  virtual void mark_all_memory(MemoryUse /*use*/) {}
  // By use, of the highest peak that memory() told since mark_all_memory(); empty on a real device.
  virtual std::vector<int64_t> peak_memory_split() const { return {}; }
};

// The one symbol that a device module exports, found with dlsym under kOpenDeviceSymbol. `name` is
// a job's device ("cuda:0"). Returns a new object, which the caller owns; throws DeviceError.
using OpenDevice = DeviceModule*(const std::string& name);
inline constexpr const char* kOpenDeviceSymbol = "precbench_open_device";

}  // namespace precbench::train
