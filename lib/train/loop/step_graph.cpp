#include "train/loop/step_graph.h"

#include "train/errors.h"

namespace precbench::train {

StepGraph::Layout StepGraph::layout_of(const torch::Tensor& tensor) {
  return {tensor.sizes().vec(), tensor.strides().vec(), tensor.options()};
}

torch::Tensor StepGraph::zeros_like(const Layout& layout) {
  return torch::empty_strided(layout.sizes, layout.strides, layout.options).zero_();
}

void StepGraph::note_batch(const Batch& batch) {
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

void StepGraph::record(const Compute& compute) {
  batch_ = {zeros_like(input_), zeros_like(target_)};
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
