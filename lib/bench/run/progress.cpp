#include "bench/run/progress.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace precbench {
namespace {

// Off a terminal: soon enough to see that it works, rarely enough for a log.
constexpr double kSecondLineS = 10.0;
constexpr double kLineEveryS = 29.5;  // under the 30 s that a log may be silent at most

std::string samples_per_second(double rate) {
  return rate >= 1000 ? fmt::format("{:.1f}k samples/s", rate / 1000)
                      : fmt::format("{:.0f} samples/s", rate);
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string rough_duration(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
}

Progress::Progress(Console& console, std::string label, int64_t batch_size, SecondsClock now,
                   bool announces_first_step)
    : console_(console),
      label_(std::move(label)),
      batch_size_(batch_size),
      now_(std::move(now)),
      announces_first_step_(announces_first_step),
      began_s_(now_()),
      last_line_s_(began_s_) {}

void Progress::take(const Event& event) {
  if (const auto* phase = std::get_if<PhaseEvent>(&event)) phase_ = phase->name;
  if (const auto* steps = std::get_if<StepsEvent>(&event)) {
    if (!steps_) {
      steps_began_s_ = now_();
      steps_at_begin_ = steps->step;
    }
    steps_ = *steps;
  }
  tick();
}

void Progress::tick() {
  if (!console_.shows_progress()) return;
  if (console_.has_live_line()) {
    console_.live(line());
  } else if (line_is_due()) {
    console_.info(line());
    ++lines_;
    last_line_s_ = now_();
  }
}

bool Progress::line_is_due() const {
  const double now = now_();
  if (now - last_line_s_ >= kLineEveryS) return true;
  if (!steps_ || !announces_first_step_) return false;
  return lines_ == 0 || (lines_ == 1 && now - began_s_ >= kSecondLineS);
}

std::string Progress::line() const {
  std::string text = label_;
  if (!steps_ || phase_ == "evaluate") {
    std::string words = phase_;
    for (char& c : words) {
      if (c == '_') c = ' ';
    }
    return text + "  " + words + "  " + rough_duration(now_() - began_s_);
  }
  text += fmt::format("  epoch {}/{}  step {}/{}", steps_->epoch, steps_->epochs, steps_->step,
                      steps_->steps);
  if (steps_->loss) text += fmt::format("  loss {:.4f}", *steps_->loss);
  const double elapsed = now_() - steps_began_s_;
  const auto done = static_cast<double>(steps_->step - steps_at_begin_);
  if (elapsed > 0 && done > 0) {
    const double rate = done / elapsed;
    text += "  " + samples_per_second(rate * static_cast<double>(batch_size_));
    const double left_s = static_cast<double>(steps_->steps - steps_->step) / rate;
    text += "  about " + rough_duration(left_s) + " left";
    if (later_s_.value_or(0) > 0)
      text += ", " + rough_duration(left_s + *later_s_) + " of all runs";
  }
  return text;
}

}  // namespace precbench
