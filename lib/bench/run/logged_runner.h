// Workers whose doings and last words are told: with -v what they write to their stderr, under the
// name of their mode, with -vv each event; in the log file both.
#pragma once

#include <optional>

#include "bench/run/console.h"
#include "bench/run/worker_voice.h"
#include "bench/worker/worker_runner.h"

namespace precbench {

class LoggedRunner final : public JobRunner {
 public:
  // `fabric`: the worker of that engine, where jobs name it.
  explicit LoggedRunner(Console& console, std::optional<WorkerCommand> fabric = std::nullopt);

  JobOutcome run(const Job& job, const JobLimits& limits, const EventHandler& on_event,
                 const TickHandler& on_tick) override;
  std::optional<int> interrupted() override { return workers_.interrupted(); }

 private:
  Console& console_;
  WorkerVoice voice_;
  WorkerRunner workers_;
};

}  // namespace precbench
