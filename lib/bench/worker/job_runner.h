// Runs one job in one worker process and waits for its end, whatever that is: a result, a reported
// failure, a crash, silence, garbage, a time-out, or the user's Ctrl-C. The session knows only this
// interface; tests give it a scripted one.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/event.h"
#include "common/job.h"

namespace precbench {

struct JobLimits {
  std::optional<double> timeout_s;  // of the whole job; none = as long as it takes
};

struct JobOutcome {
  Status status = Status::error;       // ok, oom, unsupported, timeout or error
  std::optional<std::string> reason;   // why, when not ok
  std::optional<ResultEvent> result;   // when the worker sent one
  std::optional<FailureKind> failure;  // when the worker reported one
  std::optional<HelloEvent> hello;
  bool refused = false;  // the worker is of another version or protocol, or cannot be started
  std::optional<int> interrupted_by;  // SIGINT or SIGTERM; the worker was killed
  double wall_s = 0;                  // from spawn to exit
  double cpu_s = 0;                   // user + system time of the worker
};

using EventHandler = std::function<void(const Event&)>;
using TickHandler = std::function<void()>;  // about ten times a second while a job runs

class JobRunner {
 public:
  virtual ~JobRunner() = default;
  virtual JobOutcome run(const Job& job, const JobLimits& limits, const EventHandler& on_event,
                         const TickHandler& on_tick) = 0;
  // SIGINT or SIGTERM if one has arrived since the session began.
  virtual std::optional<int> interrupted() = 0;
};

}  // namespace precbench
