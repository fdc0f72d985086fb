// `--cuda-graph`: a whole training step (forward, backward, scaler and optimizer) recorded once and
// replayed for every later batch of that shape, so that the host launches one thing instead of
// hundreds.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/job.h"
#include "train/cuda/device_module.h"
#include "train/loop/loader.h"
#include "train/precision/precision.h"
#include "train/torch.h"

namespace precbench::train {

// What one optimizer step computes.
struct StepResult {
  torch::Tensor loss;  // scalar on the device, mean over the step's samples
  StepOutcome outcome;
  int64_t samples = 0;
};

class StepGraph {
 public:
  // Steps that are done one operation after the other before one is recorded: in them libraries
  // set themselves up, and the optimizer makes its state.
  static constexpr int64_t kWarmUpSteps = 3;

  // Does one step on a batch, by operations that record_graph() allows.
  using Compute = std::function<StepResult(const Batch&)>;

  explicit StepGraph(DeviceModule& device) : device_(device) {}

  // What all batches look like. Before record().
  void note_batch(const Batch& batch);

  // Records the step without doing it. Throws UnsupportedError where that cannot be.
  void record(const Compute& compute);
  bool is_recorded() const { return graph_ != nullptr; }

  // Does the recorded step. The tensors of the result are overwritten by the next call.
  const StepResult& step(const Batch& batch);

  // While the result lives, steps that are done one operation after the other use the memory of the
  // recorded one. Null before there is one.
  std::shared_ptr<void> memory_scope() { return graph_ ? graph_->memory_scope() : nullptr; }

  int64_t replayed_steps() const { return replayed_steps_; }

 private:
  struct Layout {
    std::vector<int64_t> sizes, strides;
    torch::TensorOptions options;
  };
  static Layout layout_of(const torch::Tensor& tensor);
  static torch::Tensor zeros_like(const Layout& layout);

  DeviceModule& device_;
  Layout input_, target_;
  Batch batch_;        // what the recorded operations read
  StepResult result_;  // and write
  std::unique_ptr<DeviceGraph> graph_;
  int64_t replayed_steps_ = 0;
};

// Why no step of this job can be recorded, in words that follow "no CUDA graph: "; nothing where
// one can.
std::optional<std::string> graph_obstacle(const TrainJob& job, const DeviceModule& device,
                                          bool has_scaler);

}  // namespace precbench::train
