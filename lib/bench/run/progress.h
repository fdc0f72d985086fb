// What one running job shows of itself: on a terminal a live line, elsewhere a line after the first
// step, after 10 s, then every 30 s.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bench/run/console.h"
#include "common/event.h"

namespace precbench {

class Progress {
 public:
  using SecondsClock = std::function<double()>;  // monotonic

  // `label` stands first on every line: "[2/3] bf16-mixed". `batch_size` turns steps into samples.
  // A pilot is too short to announce its first step off a terminal.
  Progress(Console& console, std::string label, int64_t batch_size, SecondsClock now,
           bool announces_first_step = true);

  // The runs that follow are going to take that long; the line tells the whole.
  void before_others(std::optional<double> seconds) { later_s_ = seconds; }

  void take(const Event& event);
  void tick();

 private:
  std::string line() const;
  bool line_is_due() const;

  Console& console_;
  std::string label_;
  int64_t batch_size_;
  SecondsClock now_;
  bool announces_first_step_;
  std::optional<double> later_s_;
  double began_s_;
  std::string phase_ = "starting";
  std::optional<StepsEvent> steps_;
  double steps_began_s_ = 0;  // when the first steps were reported
  int64_t steps_at_begin_ = 0;
  int lines_ = 0;
  double last_line_s_ = 0;
};

// Of the monotonic clock.
double steady_seconds();

// "45 s", "16m 28s", "1h 23m": for estimates and progress.
std::string rough_duration(double seconds);

}  // namespace precbench
