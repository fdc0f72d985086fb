// What the loop tells the coordinator while it trains, and when a pilot is over.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "train/base/event_sink.h"
#include "train/loop/schedule.h"
#include "train/measure/observer.h"
#include "train/measure/step_clock.h"
#include "train/measure/step_log.h"

namespace precbench::train {

// At most ten events a second.
class Progress : public Observer {
 public:
  Progress(const TrainingLength& length, const StepLog& log, StepClock& clock, EventSink emit)
      : length_(length), log_(log), clock_(clock), emit_(std::move(emit)) {}

  void after_step(Step& step) override;

 private:
  TrainingLength length_;
  const StepLog& log_;
  StepClock& clock_;
  EventSink emit_;
  std::optional<std::chrono::steady_clock::time_point> last_event_;
};

// Ends training with the first step that finishes after so many seconds.
class TimeLimit : public Observer {
 public:
  explicit TimeLimit(double seconds) : seconds_(seconds) {}

  void before_step(int64_t step) override;
  void after_step(Step& step) override;

 private:
  double seconds_;
  std::chrono::steady_clock::time_point begin_;
};

// Calls back after the first step.
class FirstStep : public Observer {
 public:
  explicit FirstStep(StepClock& clock) : clock_(clock) {}

  void calls(std::function<void()> check) { check_ = std::move(check); }
  void after_step(Step& step) override {
    if (step.number == 0 && check_) clock_.pause(check_);
  }

 private:
  StepClock& clock_;
  std::function<void()> check_;
};

}  // namespace precbench::train
