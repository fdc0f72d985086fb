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
#include "train/base/event_sink.h"
#include "train/base/torch.h"
#include "train/device/device_module.h"
#include "train/measure/observer.h"
#include "train/measure/step_clock.h"

namespace precbench::train {

// Steps done by a CUDA graph, and why there are none.
struct GraphUse {
  int64_t replayed_steps = 0;
  std::optional<std::string> why_none;
};

class StepGraph : public Observer {
 public:
  // Steps that are done one operation after the other before one is recorded: in them libraries
  // set themselves up, and the optimizer makes its state.
  static constexpr int64_t kWarmUpSteps = 3;

  // Does one step on a batch, by operations that record_graph() allows.
  using Compute = std::function<StepResult(const Batch&)>;

  StepGraph(const TrainJob& job, DeviceModule& device, bool has_scaler, StepClock& clock,
            EventSink emit);

  // Whether the job asks for a graph and there can be one.
  bool is_usable() const { return is_asked_for_ && !obstacle_; }

  // Whether the step is one that a graph may do, where nobody looks into it.
  bool takes(int64_t step, int64_t samples_left) const;

  // Sees what all batches look like.
  void after_forward(const Batch& batch) override;

  // Records the step without doing it, the first time that it is called: a phase of its own, which
  // may take seconds. Throws UnsupportedError where that cannot be.
  void record_once(const Compute& compute);

  // Does the recorded step. The tensors of the result are overwritten by the next call.
  const StepResult& step(const Batch& batch);

  // While the result lives, steps that are done one operation after the other use the memory of the
  // recorded one. Null before there is one.
  std::shared_ptr<void> memory_scope() { return graph_ ? graph_->memory_scope() : nullptr; }

  // Nothing where no graph was asked for.
  std::optional<GraphUse> use() const;

 private:
  void record(const Compute& compute);

  struct Layout {
    std::vector<int64_t> sizes, strides;
    torch::TensorOptions options;
  };
  static Layout layout_of(const torch::Tensor& tensor);
  static torch::Tensor zeros_like(const Layout& layout);

  const TrainJob& job_;
  DeviceModule& device_;
  StepClock& clock_;
  EventSink emit_;
  bool is_asked_for_;
  std::optional<std::string> obstacle_;
  std::optional<Layout> input_, target_;
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
