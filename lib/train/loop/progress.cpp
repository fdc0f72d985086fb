#include "train/loop/progress.h"

namespace precbench::train {

void Progress::after_step(Step& step) {
  constexpr auto kInterval = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (last_event_ && now - *last_event_ < kInterval) return;
  last_event_ = now;
  StepsEvent event{step.epoch, length_.epochs, step.number + 1, length_.steps, std::nullopt};
  if (!log_.steps().empty()) event.loss = log_.steps().back().loss;
  clock_.pause([&] { emit_(event); });
}

void TimeLimit::before_step(int64_t step) {
  if (step == 0) begin_ = std::chrono::steady_clock::now();
}

void TimeLimit::after_step(Step& step) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  if (passed.count() >= seconds_) step.ends_training = true;
}

}  // namespace precbench::train
