#include "bench/worker/worker_runner.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "bench/text/escape.h"
#include "common/engines.h"
#include "common/errors.h"
#include "common/modes.h"
#include "common/printable.h"

namespace precbench {
namespace {

// User and system time of all children that have ended.
double children_cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void require(int failed) {
  if (failed == 0) return;
  throw DeviceError(std::string("cannot watch workers: ") + uv_strerror(failed) +
                    (failed == UV_EMFILE ? "; raise the limit of open files (ulimit -n 64)" : ""));
}

// libuv ends the process where its first descriptors cannot be had: two pipes, an event, a poll.
void require_descriptors() {
  constexpr size_t kOfLibuv = 6;
  std::array<int, kOfLibuv> taken{};
  int failed = 0;
  for (int& fd : taken) {
    fd = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 && errno == EMFILE) failed = UV_EMFILE;
  }
  for (const int fd : taken) {
    if (fd >= 0) ::close(fd);
  }
  require(failed);
}

// Why a run's figures would be believed wrongly; empty where nothing is wrong.
std::string fault_of(const TrainJob& job, const TrainResult& result) {
  const std::string& ran = result.effective_mode;
  if (!may_run_as(job.mode, ran)) {
    return "the worker ran '" + shortened(printable(ran), 80) + "' where " + job.mode +
           " was asked for";
  }
  const bool took_no_time = result.run.status == Status::ok && result.run.time.total_s == 0.0;
  return took_no_time ? "the worker's run took no time (total_s 0)" : "";
}

void refuse_wrong_result(const Job& job, JobOutcome& outcome) {
  if (job.kind != JobKind::train || !outcome.result || !outcome.result->train) return;
  const std::string fault = fault_of(job.train, *outcome.result->train);
  if (fault.empty()) return;
  outcome.status = Status::error;
  outcome.reason = fault;
  outcome.result.reset();
}

}  // namespace

WorkerRunner::WorkerRunner(WorkerCommand command, JobStderrHandler on_stderr,
                           std::optional<WorkerCommand> fabric)
    : command_(std::move(command)), fabric_(std::move(fabric)), on_stderr_(std::move(on_stderr)) {
  std::signal(SIGPIPE,
              SIG_IGN);  // a worker that dies before it has read its job is an outcome, not our end
  require_descriptors();
  require(uv_loop_init(&loop_));
  constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
  const auto on_signal = [](uv_signal_t* handle, int number) {
    auto* self = static_cast<WorkerRunner*>(handle->data);
    self->interrupted_by_ = number;
    if (self->running_ != nullptr) self->running_->kill();
  };
  for (size_t i = 0; i < signals_.size(); ++i) {
    require(uv_signal_init(&loop_, &signals_[i]));
    signals_[i].data = this;
    require(uv_signal_start(&signals_[i], on_signal, kSignals[i]));
    uv_unref(reinterpret_cast<uv_handle_t*>(&signals_[i]));  // the loop ends when the worker has
  }
}

WorkerRunner::~WorkerRunner() {
  for (uv_signal_t& handle : signals_) uv_close(reinterpret_cast<uv_handle_t*>(&handle), nullptr);
  uv_run(&loop_, UV_RUN_DEFAULT);
  uv_loop_close(&loop_);
}

std::optional<int> WorkerRunner::interrupted() {
  uv_run(&loop_, UV_RUN_NOWAIT);
  return interrupted_by_;
}

JobOutcome WorkerRunner::run(const Job& job, const JobLimits& limits, const EventHandler& on_event,
                             const TickHandler& on_tick) {
  using Clock = std::chrono::steady_clock;
  const double cpu_before_s = children_cpu_s();
  const auto begin = Clock::now();
  const bool is_fabric = job.kind == JobKind::train && job.train.engine == kFabricEngine && fabric_;
  WorkerGroup workers(loop_, on_event, on_tick, on_stderr_);
  running_ = &workers;
  Job numbered = job;
  // Other processes are at the same run, and meet in a place of its own.
  const bool has_others = is_shared(job) && !job.meeting.empty();
  if (has_others) numbered.meeting += "/" + std::to_string(++shared_runs_);
  workers.start(is_fabric ? *fabric_ : command_, numbered, limits);
  uv_run(&loop_, UV_RUN_DEFAULT);
  running_ = nullptr;

  JobOutcome outcome = workers.outcome();
  refuse_wrong_result(job, outcome);
  outcome.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  outcome.cpu_s = children_cpu_s() - cpu_before_s;
  if (!outcome.result) outcome.interrupted_by = interrupted_by_;
  return outcome;
}

}  // namespace precbench
