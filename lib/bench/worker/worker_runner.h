// The real JobRunner: one precbench-worker process per job and device, driven by libuv.
#pragma once

#include <array>

#include "bench/worker/worker_group.h"

namespace precbench {

class WorkerRunner final : public JobRunner {
 public:
  // `on_stderr` gets each line that a worker writes to its stderr (LibTorch's warnings and the
  // like), and the job it is at. `fabric` is the worker of that engine, where jobs name it.
  using JobStderrHandler = WorkerGroup::JobStderrHandler;
  WorkerRunner(WorkerCommand command, JobStderrHandler on_stderr,
               std::optional<WorkerCommand> fabric = std::nullopt);
  ~WorkerRunner() override;
  WorkerRunner(const WorkerRunner&) = delete;
  WorkerRunner& operator=(const WorkerRunner&) = delete;

  JobOutcome run(const Job& job, const JobLimits& limits, const EventHandler& on_event,
                 const TickHandler& on_tick) override;
  std::optional<int> interrupted() override;

 private:
  WorkerCommand command_;
  std::optional<WorkerCommand> fabric_;
  JobStderrHandler on_stderr_;
  // One loop for the whole session: a signal that arrives between two jobs is seen by the next.
  uv_loop_t loop_{};
  std::array<uv_signal_t, 2> signals_{};  // SIGINT, SIGTERM
  std::optional<int> interrupted_by_;
  int64_t shared_runs_ = 0;  // with ranks that other processes started
  WorkerGroup* running_ = nullptr;
};

}  // namespace precbench
