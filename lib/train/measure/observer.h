// What looks on while a model trains, without being a part of it: nothing of it changes what is
// computed.
#pragma once

#include <cstdint>
#include <vector>

#include "train/base/run_state.h"
#include "train/base/torch.h"
#include "train/data/loader.h"
#include "train/precision/precision.h"

namespace precbench::train {

// What one optimizer step computes.
struct StepResult {
  torch::Tensor loss;  // scalar on the device, mean over the step's samples
  StepOutcome outcome;
  int64_t samples = 0;
  bool is_unclippable = false;  // the norm of the gradients was not finite
};

struct Step {
  int64_t number;  // from 0
  int64_t epoch;   // from 1
  StepResult result;
  bool ends_training = false;  // an observer says so
};

// The loop calls these at the same points of every step. What an observer does is no part of
// training: where it takes time, the observer stops the clock meanwhile (StepClock::pause), and
// where it takes memory, MemoryProfile.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  // Whether the step must be done one operation after the other.
  virtual bool looks_into(int64_t /*step*/) const { return false; }

  virtual void before_step(int64_t /*step*/) {}          // gradients are dropped
  virtual void after_forward(const Batch& /*batch*/) {}  // with its loss; for each batch of a step
  virtual void after_backward() {}                       // for each batch
  virtual void before_update() {}  // with all gradients, neither unscaled nor clipped
  virtual void after_step(Step& /*step*/) {}
  virtual void after_epoch(bool /*is_last*/) {}
};

// Observers around the loop: the first that was added is the closest, the first to be called after
// something and the last before it.
class Observers {
 public:
  void add(Observer& observer) { observers_.push_back(&observer); }

  bool look_into(int64_t step) const {
    for (const Observer* each : observers_) {
      if (each->looks_into(step)) return true;
    }
    return false;
  }
  void before_step(int64_t step) const {
    for (auto each = observers_.rbegin(); each != observers_.rend(); ++each) {
      (*each)->before_step(step);
    }
  }
  void after_forward(const Batch& batch) const {
    for (Observer* each : observers_) each->after_forward(batch);
  }
  void after_backward() const {
    for (Observer* each : observers_) each->after_backward();
  }
  void before_update() const {
    for (Observer* each : observers_) each->before_update();
  }
  void after_step(Step& step) const {
    for (Observer* each : observers_) each->after_step(step);
  }
  void after_epoch(bool is_last) const {
    for (Observer* each : observers_) each->after_epoch(is_last);
  }

 private:
  std::vector<Observer*> observers_;
};

}  // namespace precbench::train
