// One precbench-worker process inside a libuv loop: its pipes, its timers and its end.
#pragma once

#include <uv.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/worker/event_stream.h"
#include "bench/worker/worker_command.h"

namespace precbench {

using StderrHandler = std::function<void(std::string_view line)>;

class WorkerProcess {
 public:
  WorkerProcess(uv_loop_t& loop, EventHandler on_event, TickHandler on_tick,
                StderrHandler on_stderr);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Starts the worker and sends it the job. The loop then runs until the worker has ended.
  void start(const WorkerCommand& command, const Job& job, const JobLimits& limits);
  void kill();
  void on_end(std::function<void()> handler) { on_end_ = std::move(handler); }

  bool is_running() const { return running_; }
  bool has_result() const { return events_.result().has_value(); }
  int pid() const { return process_.pid; }

  // After the loop has run: how it ended, without times and interruption, which the runner knows.
  JobOutcome outcome();

 private:
  int spawn(const WorkerCommand& command);
  void send();
  void start_timers(const JobLimits& limits);
  void read(uv_pipe_t& pipe);
  void take(uv_pipe_t& pipe, std::string_view bytes);
  void take_stderr(std::string_view bytes);
  void take_rest(uv_pipe_t& pipe);
  void exited(int64_t exit_status, int term_signal);
  std::string crash_reason() const;

  uv_loop_t& loop_;
  EventStream events_;
  TickHandler on_tick_;
  StderrHandler on_stderr_;
  std::function<void()> on_end_;
  uv_process_t process_{};
  uv_pipe_t stdin_{}, stdout_{}, stderr_{};
  uv_timer_t deadline_{}, tick_{},
      guard_{};  // guard_: the hello must come, and after a result the exit
  uv_write_t write_{};
  std::string job_text_;
  std::string stderr_tail_, stderr_line_;
  bool stderr_line_is_cut_ = false;
  std::vector<char> buffer_;
  std::optional<std::string> start_error_;
  std::optional<double> timeout_s_;
  int64_t exit_status_ = 0;
  int term_signal_ = 0;
  bool running_ = false, timed_out_ = false, silent_ = false;
};

}  // namespace precbench
