#include "train/measure/step_clock.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace precbench::train {
namespace {

constexpr double kMillisecondsPerSecond = 1e3;

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
  pass_s_ = end_s - begin_s_ - read_events() + std::exchange(earlier_s_, 0);
}

std::vector<double> StepClock::milliseconds_of_pass(double& paused_s) const {
  std::vector<double> milliseconds;
  for (size_t i = 0; i + 1 < bounds_.size(); ++i) {
    milliseconds.push_back(device_.elapsed_ms(*bounds_[i], *bounds_[i + 1]));
  }
  for (const Pause& pause : pauses_) {
    const double paused_ms = device_.elapsed_ms(*pause.begin, *pause.end);
    paused_s += paused_ms / kMillisecondsPerSecond;
    if (pause.step < milliseconds.size()) milliseconds[pause.step] -= paused_ms;
  }
  return milliseconds;
}

double StepClock::read_events() {
  double paused_s = 0;
  const std::vector<double> pass = milliseconds_of_pass(paused_s);
  milliseconds_.insert(milliseconds_.end(), pass.begin(), pass.end());
  bounds_.clear();
  pauses_.clear();
  return paused_s;
}

void StepClock::exchange(RunState& state) {
  std::vector<double> all = milliseconds_;
  double earlier_s = earlier_s_;
  if (!state.restores()) {
    device_.synchronize();
    double ignored_s = 0;
    const std::vector<double> pass = milliseconds_of_pass(ignored_s);
    all.insert(all.end(), pass.begin(), pass.end());
    earlier_s += std::accumulate(pass.begin(), pass.end(), 0.0) / kMillisecondsPerSecond;
  }
  state.numbers("clock.milliseconds", all);
  state.value("clock.pass_s", earlier_s);
  if (!state.restores()) return;
  milliseconds_ = std::move(all);
  earlier_s_ = earlier_s;
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
