#include "train/loop/step_graph.h"

#include "train/base/errors.h"

namespace precbench::train {

StepGraph::StepGraph(const TrainJob& job, DeviceModule& device, bool has_scaler, StepClock& clock,
                     EventSink emit)
    : job_(job),
      device_(device),
      clock_(clock),
      emit_(std::move(emit)),
      is_asked_for_(job.cuda_graph && !job.pilot),
      obstacle_(graph_obstacle(job, device, has_scaler)) {}

bool StepGraph::takes(int64_t step, int64_t samples_left) const {
  return step >= kWarmUpSteps && step != job_.inject_inf_at_step && samples_left >= job_.batch_size;
}

std::optional<GraphUse> StepGraph::use() const {
  if (!is_asked_for_) return std::nullopt;
  GraphUse use{replayed_steps_, obstacle_};
  if (!obstacle_ && replayed_steps_ == 0) {
    use.why_none = "the run ended within its first " + std::to_string(kWarmUpSteps) +
                   " steps, which no graph takes, or had no whole batch after them";
  }
  return use;
}

StepGraph::Layout StepGraph::layout_of(const torch::Tensor& tensor) {
  return {tensor.sizes().vec(), tensor.strides().vec(), tensor.options()};
}

torch::Tensor StepGraph::zeros_like(const Layout& layout) {
  return torch::empty_strided(layout.sizes, layout.strides, layout.options).zero_();
}

void StepGraph::after_forward(const Batch& batch) {
  if (input_) return;
  input_ = layout_of(batch.input);
  target_ = layout_of(batch.target);
}

const StepResult& StepGraph::step(const Batch& batch) {
  batch_.input.copy_(batch.input);
  batch_.target.copy_(batch.target);
  graph_->replay();
  ++replayed_steps_;
  return result_;
}

void StepGraph::record_once(const Compute& compute) {
  if (graph_ != nullptr) return;
  clock_.pause([&] {
    emit_(PhaseEvent{"record_graph"});
    record(compute);
    emit_(PhaseEvent{"train"});
  });
}

void StepGraph::record(const Compute& compute) {
  batch_ = {zeros_like(*input_), zeros_like(*target_)};
  try {
    graph_ = device_.record_graph([this, compute] { result_ = compute(batch_); });
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::exception& error) {
    if (is_out_of_memory(message_of(error), /*is_nearly_full=*/false)) throw;
    throw UnsupportedError("a step cannot be recorded as a CUDA graph: " + first_line_of(error) +
                           "; train it without --cuda-graph");
  }
}

std::optional<std::string> graph_obstacle(const TrainJob& job, const DeviceModule& device,
                                          bool has_scaler) {
  const OptimizerJob& optimizer = job.optimizer;
  if (!device.has_graphs()) return device.is_cpu() ? "a CPU has none" : "this device has none";
  if (optimizer.impl != "fused") {
    return "the " + optimizer.impl +
           " optimizer computes on the host; --optimizer-impl fused does not";
  }
  if (optimizer.accumulate > 1) return "a step accumulates several batches";
  if (!job.dump_trace.empty()) return "--dump-trace reads the gradients of every step";
  if (optimizer.clip_norm && !has_scaler && !job.keep_going) {
    return "--clip-norm looks at every norm, to stop where one is not finite; with --keep-going "
           "it does not";
  }
  return std::nullopt;
}

}  // namespace precbench::train
