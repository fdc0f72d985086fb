#include "bench/run/logged_runner.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace precbench {
namespace {

struct EventWords {
  std::string operator()(const HelloEvent& hello) const {
    return fmt::format("worker {} with LibTorch {}", hello.version, hello.libtorch);
  }
  std::string operator()(const PhaseEvent& phase) const { return "phase " + phase.name; }
  std::string operator()(const StepsEvent& steps) const {
    return fmt::format("step {} of {}, epoch {} of {}{}", steps.step, steps.steps, steps.epoch,
                       steps.epochs, steps.loss ? fmt::format(", loss {:.6g}", *steps.loss) : "");
  }
  std::string operator()(const EpochEvent& event) const {
    return fmt::format("epoch {} has ended", event.epoch);
  }
  std::string operator()(const ResultEvent&) const { return "result"; }
  std::string operator()(const FailedEvent& failed) const {
    return fmt::format("failed ({}): {}", name_of(failed.kind), failed.message);
  }
};

}  // namespace

LoggedRunner::LoggedRunner(Console& console, std::optional<WorkerCommand> fabric)
    : console_(console),
      voice_(console),
      workers_(
          worker_command_from_environment(),
          [this](const Job& job, std::string_view line) { voice_.take(job, line); },
          std::move(fabric)) {}

JobOutcome LoggedRunner::run(const Job& job, const JobLimits& limits, const EventHandler& on_event,
                             const TickHandler& on_tick) {
  const std::string who = speaker_of(job);
  console_.worker_does(who, "starts on " + job.device);
  int64_t last_step = 0;
  const JobOutcome outcome = workers_.run(
      job, limits,
      [&](const Event& event) {
        if (const auto* steps = std::get_if<StepsEvent>(&event)) last_step = steps->step;
        console_.worker_does(who, std::visit(EventWords{}, event));
        if (on_event) on_event(event);
      },
      on_tick);
  const bool is_cut_off = outcome.status != Status::ok && last_step > 0;
  console_.worker_does(
      who, fmt::format("ended after {:.2f} s{}: {}{}", outcome.wall_s,
                       is_cut_off ? fmt::format(", after step {}", last_step) : "",
                       name_of(outcome.status), outcome.reason ? ", " + *outcome.reason : ""));
  return outcome;
}

}  // namespace precbench
