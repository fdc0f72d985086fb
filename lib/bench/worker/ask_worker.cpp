#include "bench/worker/ask_worker.h"

#include <unistd.h>

#include <csignal>

#include "common/errors.h"

namespace precbench {

JobOutcome ask_worker(Job job, const JobLimits& limits, JobRunner& runner,
                      const std::string& until) {
  job.parent_pid = getpid();
  JobOutcome outcome = runner.run(job, limits, nullptr, nullptr);
  if (outcome.interrupted_by) {
    throw UserError(
        *outcome.interrupted_by == SIGTERM ? ExitCode::terminated : ExitCode::interrupted,
        "interrupted before " + until);
  }
  return outcome;
}

}  // namespace precbench
