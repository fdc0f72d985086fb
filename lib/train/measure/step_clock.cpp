#include "train/measure/step_clock.h"

#include <algorithm>
#include <numeric>

namespace precbench::train {
namespace {

// `fraction` in [0, 1]; `sorted` is not empty.
double percentile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

}  // namespace

void StepClock::begin_pass() {
  device_.synchronize();
  begin_s_ = device_.host_seconds();
  bounds_.push_back(device_.record_event());
}

void StepClock::end_step() { bounds_.push_back(device_.record_event()); }

void StepClock::pause(const std::function<void()>& work) {
  Event begin = device_.record_event();
  work();
  pauses_.push_back({bounds_.size() - 1, std::move(begin), device_.record_event()});
}

void StepClock::end_pass() {
  device_.synchronize();
  const double end_s = device_.host_seconds();
  pass_s_ = end_s - begin_s_ - read_events();
}

double StepClock::read_events() {
  constexpr double kMillisecondsPerSecond = 1e3;
  const size_t before = milliseconds_.size();
  for (size_t i = 0; i + 1 < bounds_.size(); ++i) {
    milliseconds_.push_back(device_.elapsed_ms(*bounds_[i], *bounds_[i + 1]));
  }
  double paused_s = 0;
  for (const Pause& pause : pauses_) {
    const double paused_ms = device_.elapsed_ms(*pause.begin, *pause.end);
    paused_s += paused_ms / kMillisecondsPerSecond;
    const size_t step = before + pause.step;
    if (step < milliseconds_.size()) milliseconds_[step] -= paused_ms;
  }
  bounds_.clear();
  pauses_.clear();
  return paused_s;
}

StepTimes summarize_steps(const std::vector<double>& milliseconds) {
  StepTimes times;
  if (milliseconds.size() < 2) return times;
  std::vector<double> steady(milliseconds.begin() + 1, milliseconds.end());
  times.mean =
      std::accumulate(steady.begin(), steady.end(), 0.0) / static_cast<double>(steady.size());
  std::sort(steady.begin(), steady.end());
  times.median = percentile(steady, 0.5);
  times.p95 = percentile(steady, 0.95);
  return times;
}

}  // namespace precbench::train
