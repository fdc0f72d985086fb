// What befell a session besides the failures that its rows tell.
#pragma once

#include <optional>

#include "bench/worker/job_runner.h"

namespace precbench {

struct Troubles {
  std::optional<int> signal;  // SIGINT or SIGTERM
  bool file = false;          // one could not be read or written: exit code 5

  bool interrupted(JobRunner& runner) {
    if (!signal) signal = runner.interrupted();
    return signal.has_value();
  }

  // Whether the user ended the job.
  bool take(const JobOutcome& outcome) {
    if (outcome.failure == FailureKind::input) file = true;
    if (outcome.interrupted_by) signal = outcome.interrupted_by;
    return outcome.interrupted_by.has_value();
  }
};

}  // namespace precbench
