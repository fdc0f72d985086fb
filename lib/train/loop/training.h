// The training loop and the evaluation. It measures at its edges and knows neither the device nor
// the mode.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "common/job.h"
#include "train/cuda/device_module.h"
#include "train/event_sink.h"
#include "train/loop/loader.h"
#include "train/loop/schedule.h"
#include "train/loop/step_graph.h"
#include "train/measure/divergence.h"
#include "train/measure/dtype_observer.h"
#include "train/measure/memory_profile.h"
#include "train/measure/numeric_health.h"
#include "train/measure/step_clock.h"
#include "train/measure/step_log.h"
#include "train/measure/trace.h"
#include "train/models/model.h"
#include "train/optim/optimizer.h"
#include "train/precision/precision.h"
#include "train/torch.h"

namespace precbench::train {

// What the loop works with; all of it outlives the loop.
struct TrainingParts {
  DeviceModule& device;
  Model& model;
  Precision& precision;
  Optimizer& optimizer;
  Loader& train_loader;
  Loader& test_loader;
  StepLog& log;
  MemoryProfile* memory = nullptr;  // none: not measured
  NumericHealth* health = nullptr;
};

// Accuracies are fractions, losses means per sample, times seconds.
struct PassFigures {
  double accuracy = 0, loss = 0, seconds = 0;
  int64_t samples = 0;
};

// Steps done by a CUDA graph, and why there are none.
struct GraphUse {
  int64_t replayed_steps = 0;
  std::optional<std::string> why_none;
};

class Training {
 public:
  Training(const TrainJob& job, const TrainingParts& parts, EventSink emit);

  // Called once, after the first step and outside of what is timed.
  void on_first_step(std::function<void()> check) { on_first_step_ = std::move(check); }

  int64_t total_steps() const { return total_steps_; }
  int64_t total_epochs() const;
  bool finished() const;  // all steps done, or stopped by divergence or a pilot's time limit

  // Trains until the epoch, the steps or a pilot's time are over, or the run diverges.
  PassFigures train_epoch(int64_t epoch);

  // One pass over the test split, or its first batches alone.
  PassFigures evaluate(std::optional<int64_t> max_batches = std::nullopt);

  int64_t steps_done() const { return step_; }
  double first_step_s() const { return times_.milliseconds().at(0) / 1e3; }
  const std::vector<double>& step_milliseconds() const { return times_.milliseconds(); }
  const std::optional<std::string>& divergence() const { return divergence_.reason(); }

  // What no device of that data sheet could do the last step in; of a simulated one alone.
  std::optional<double> least_step_s() const { return least_step_s_; }

  // As observed in the first step. Without value before it.
  const std::optional<ObservedDtypes>& observed() const { return observed_; }
  const std::optional<at::ScalarType>& gradient_dtype() const { return gradient_dtype_; }

  // Nothing where no graph was asked for.
  std::optional<GraphUse> graph_use() const;

 private:
  using Clock = std::chrono::steady_clock;

  void train_step();
  void record_graph();
  void read_log();
  StepResult compute_step(int64_t batches, const std::function<Batch()>& next,
                          MemoryProfile* profile);
  bool is_alike(bool is_looked_at) const;
  void begin_health_check();
  void end_health_check(const StepOutcome& outcome);
  torch::Tensor loss_of(const torch::Tensor& logits, const torch::Tensor& target,
                        double label_smoothing) const;
  void clip_gradients();
  void inject_infinity();
  torch::Tensor first_gradient() const;
  void note_gradients();
  StepResult compute_recorded(const Batch& batch);
  void write_trace();
  void after_step(int64_t epoch);
  double mean_loss(size_t first_step) const;

  const TrainJob& job_;
  TrainingParts parts_;
  EventSink emit_;
  int64_t steps_per_epoch_, total_steps_, targets_per_sample_;
  Schedule schedule_;
  int64_t schedule_step_ = 0, step_ = 0;
  std::vector<int64_t> samples_of_step_;
  int64_t classes_;
  torch::Tensor correct_;   // int64 scalar on the device
  torch::Tensor loss_sum_;  // over samples, float64 scalar there; undefined without accumulation
  StepClock times_;
  std::optional<TraceWriter> trace_;  // only with --dump-trace
  TraceStep traced_;
  DivergenceWatch divergence_;
  std::optional<ObservedDtypes> observed_;
  std::optional<at::ScalarType> gradient_dtype_;
  std::optional<StepGraph> graph_;
  std::optional<std::string> graph_obstacle_;
  std::optional<double> least_step_s_;
  double health_scale_ = 1;  // of the losses in a step that is looked at
  Clock::time_point train_begin_;
  std::optional<Clock::time_point> last_event_;
  bool stopped_ = false;
  std::function<void()> on_first_step_;
};

}  // namespace precbench::train
