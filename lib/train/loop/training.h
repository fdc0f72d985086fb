// The training loop and the evaluation. It knows neither the device nor the mode; what measures it
// looks on from outside (measure/observer.h).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/job.h"
#include "train/base/torch.h"
#include "train/data/loader.h"
#include "train/device/device_module.h"
#include "train/loop/objective.h"
#include "train/loop/schedule.h"
#include "train/loop/shared_training.h"
#include "train/loop/step_graph.h"
#include "train/measure/observer.h"
#include "train/measure/step_clock.h"
#include "train/measure/step_log.h"
#include "train/models/model.h"
#include "train/optim/optimizer.h"
#include "train/precision/precision.h"

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
  StepClock& clock;
  SharedTraining* shared = nullptr;  // where several ranks train
};

// Whether the schedule stays where it is when the scaler skips a step, so that the log must be read
// back after every step.
bool holds_on_skip(const TrainJob& job, Precision& precision);

class Training {
 public:
  // `graph` does the steps that it can.
  Training(const TrainJob& job, const TrainingParts& parts, Observers observers = {},
           StepGraph* graph = nullptr);

  // Called between two steps that are whole.
  void calls_between_steps(std::function<void()> call) { between_steps_ = std::move(call); }
  int64_t steps_done() const { return step_; }
  // Model and optimizer, and where training is. Restored, the next epoch is one that goes on.
  void exchange(RunState& state);

  bool finished() const;  // all steps done, or ended by an observer

  // Trains until the epoch or the steps are over, or an observer ends it. The loss is nan where no
  // observer reads the log.
  PassFigures train_epoch(int64_t epoch);

  // One pass over the test split, or its first batches alone.
  PassFigures evaluate(std::optional<int64_t> max_batches = std::nullopt);

 private:
  StepResult train_step();
  // `is_last`: of the step's batches.
  void learn_from(const Batch& batch, int64_t batches_of_step, bool is_last, StepResult& result);
  void update_weights(StepResult& result);
  torch::Tensor loss_of(const torch::Tensor& logits, const torch::Tensor& target,
                        double label_smoothing) const;

  const TrainJob& job_;
  TrainingParts parts_;
  Observers observers_;
  StepGraph* graph_;
  int64_t total_steps_;
  Schedule schedule_;
  bool holds_on_skip_;
  PassTotals totals_;
  int64_t step_ = 0, schedule_step_ = 0;
  bool is_ended_ = false;
  std::function<void()> between_steps_;
  // Of the epoch.
  size_t first_step_ = 0;
  std::vector<int64_t> samples_;  // of each step
  bool goes_on_ = false;          // it was begun by another process
};

}  // namespace precbench::train
