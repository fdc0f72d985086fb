#include "train/loop/step_graph.h"

#include "train/errors.h"

namespace precbench::train {

const StepResult& StepGraph::step(const Batch& batch, const Compute& compute) {
  if (graph_ == nullptr) record(batch, compute);
  batch_.input.copy_(batch.input);
  batch_.target.copy_(batch.target);
  graph_->replay();
  ++replayed_steps_;
  return result_;
}

void StepGraph::record(const Batch& like, const Compute& compute) {
  batch_ = {like.input.clone(), like.target.clone()};
  try {
    graph_ = device_.record_graph([this, compute] { result_ = compute(batch_); });
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::exception& error) {
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
