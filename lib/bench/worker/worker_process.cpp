#include "bench/worker/worker_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "bench/text/escape.h"
#include "common/limits.h"
#include "common/printable.h"

extern char** environ;

namespace precbench {
namespace {

// A worker says hello within a third of a second on an idle machine; with a cold page cache it
// first reads LibTorch's 500 MB from the disk.
constexpr uint64_t kHelloTimeoutMs = 120'000;

// After its result a worker only has to unload; one that hangs there is killed, its result stands.
constexpr uint64_t kExitTimeoutMs = 10'000;

constexpr uint64_t kTickMs = 100;  // progress is redrawn ten times a second

constexpr size_t kReadBytes = 64 * 1024;  // as libuv suggests

void close_handle(void* handle) {
  auto* uv_handle = static_cast<uv_handle_t*>(handle);
  if (uv_handle->loop != nullptr && uv_is_closing(uv_handle) == 0) uv_close(uv_handle, nullptr);
}

uv_stdio_container_t pipe_end(uv_pipe_t& pipe, uv_stdio_flags direction) {
  uv_stdio_container_t container{};
  container.flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | direction);
  container.data.stream = reinterpret_cast<uv_stream_t*>(&pipe);
  return container;
}

// Threads of a step wait for each other many times. GNU OpenMP lets them spin for up to 300,000
// rounds, and where another process has one of the cores, the others spin away whole time slices in
// which it could end its turn: a step of `mlp` took 24 to over 100 times as long. After so many
// rounds they sleep instead; that costs nothing on a quiet machine, and fewer would
// (docs/performance.md).
constexpr std::string_view kSpinCount = "GOMP_SPINCOUNT=10000";

bool is_given(const char* name) { return std::getenv(name) != nullptr; }

std::vector<std::string> worker_environment(const std::string& libtorch_dir) {
  constexpr std::string_view kLibraryPath = "LD_LIBRARY_PATH=";
  std::vector<std::string> variables;
  std::string_view inherited;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!libtorch_dir.empty() && text.substr(0, kLibraryPath.size()) == kLibraryPath) {
      inherited = text.substr(kLibraryPath.size());
    } else {
      variables.emplace_back(text);
    }
  }
  if (!libtorch_dir.empty())
    variables.push_back(std::string(kLibraryPath) + library_path(libtorch_dir, inherited));
  if (!is_given("OMP_WAIT_POLICY") && !is_given("GOMP_SPINCOUNT")) {
    variables.emplace_back(kSpinCount);
  }
  return variables;
}

std::string signal_words(int signal) {
  const char* name = sigabbrev_np(signal);
  const std::string words = "signal " + std::to_string(signal) +
                            (name == nullptr ? "" : " (SIG" + std::string(name) + ")");
  return signal == SIGKILL ? words + "; if nobody did that by hand, the system was out of memory"
                           : words;
}

std::string last_line_of(const std::string& text) {
  const size_t last = text.find_last_not_of(" \n");
  if (last == std::string::npos) return "";
  const size_t before = text.rfind('\n', last);
  const size_t start = before == std::string::npos ? 0 : before + 1;
  return printable(text.substr(start, last + 1 - start));
}

}  // namespace

WorkerProcess::WorkerProcess(uv_loop_t& loop, EventHandler on_event, TickHandler on_tick,
                             StderrHandler on_stderr)
    : loop_(loop),
      events_(std::move(on_event)),
      on_tick_(std::move(on_tick)),
      on_stderr_(std::move(on_stderr)),
      buffer_(kReadBytes) {}

void WorkerProcess::start(const WorkerCommand& command, const Job& job, const JobLimits& limits) {
  // Before there are handles: nothing may throw while they live.
  try {
    job_text_ = to_json(job).dump() + "\n";
  } catch (const json::type_error&) {
    start_error_ =
        "a path of this job is not UTF-8, so that the worker cannot be told it; move or rename it";
    return;
  }
  if (const int failed = spawn(command); failed != 0) {
    start_error_ = "cannot start the worker '" + command.path + "': " + uv_strerror(failed) +
                   "; build it with scripts/precbench, or name one with PRECBENCH_WORKER";
    for (uv_pipe_t* pipe : {&stdin_, &stdout_, &stderr_}) close_handle(pipe);
    close_handle(&process_);
    return;
  }
  running_ = true;
  start_timers(limits);
  read(stdout_);
  read(stderr_);
  send();
}

int WorkerProcess::spawn(const WorkerCommand& command) {
  for (uv_pipe_t* pipe : {&stdin_, &stdout_, &stderr_}) {
    uv_pipe_init(&loop_, pipe, 0);
    pipe->data = this;
  }
  std::array<uv_stdio_container_t, 3> stdio = {pipe_end(stdin_, UV_READABLE_PIPE),
                                               pipe_end(stdout_, UV_WRITABLE_PIPE),
                                               pipe_end(stderr_, UV_WRITABLE_PIPE)};
  std::vector<std::string> environment = worker_environment(command.libtorch_dir);
  std::vector<char*> environment_pointers;
  for (std::string& variable : environment) environment_pointers.push_back(variable.data());
  environment_pointers.push_back(nullptr);
  std::vector<std::string> words = {command.path};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  uv_process_options_t options{};
  options.file = command.path.c_str();
  options.args = arguments.data();
  options.env = environment_pointers.data();
  // The worker leads its own session, so that a terminal's Ctrl-C reaches the coordinator alone.
  options.flags = UV_PROCESS_DETACHED;
  options.stdio_count = static_cast<int>(stdio.size());
  options.stdio = stdio.data();
  options.exit_cb = [](uv_process_t* process, int64_t exit_status, int term_signal) {
    static_cast<WorkerProcess*>(process->data)->exited(exit_status, term_signal);
  };
  process_.data = this;
  return uv_spawn(&loop_, &process_, &options);
}

void WorkerProcess::send() {
  uv_buf_t bytes = uv_buf_init(job_text_.data(), static_cast<unsigned>(job_text_.size()));
  // A worker that dies before it has read its job makes this fail; its exit tells more than the
  // broken pipe.
  uv_write(&write_, reinterpret_cast<uv_stream_t*>(&stdin_), &bytes, 1,
           [](uv_write_t* request, int) { close_handle(request->handle); });
}

void WorkerProcess::start_timers(const JobLimits& limits) {
  for (uv_timer_t* timer : {&deadline_, &tick_, &guard_}) {
    uv_timer_init(&loop_, timer);
    timer->data = this;
  }
  const auto on_tick = [](uv_timer_t* timer) {
    auto* self = static_cast<WorkerProcess*>(timer->data);
    if (self->on_tick_) self->on_tick_();
  };
  uv_timer_start(&tick_, on_tick, kTickMs, kTickMs);
  const auto on_guard = [](uv_timer_t* timer) {
    auto* self = static_cast<WorkerProcess*>(timer->data);
    self->silent_ = !self->events_.hello();
    self->kill();
  };
  uv_timer_start(&guard_, on_guard, kHelloTimeoutMs, 0);
  timeout_s_ = limits.timeout_s;
  if (!timeout_s_) return;
  const auto on_deadline = [](uv_timer_t* timer) {
    auto* self = static_cast<WorkerProcess*>(timer->data);
    self->timed_out_ = !self->events_.finished();
    self->kill();
  };
  uv_timer_start(&deadline_, on_deadline, static_cast<uint64_t>(*timeout_s_ * 1000.0), 0);
}

void WorkerProcess::read(uv_pipe_t& pipe) {
  const auto allocate = [](uv_handle_t* handle, size_t, uv_buf_t* bytes) {
    auto* self = static_cast<WorkerProcess*>(handle->data);
    *bytes = uv_buf_init(self->buffer_.data(), static_cast<unsigned>(self->buffer_.size()));
  };
  const auto take_bytes = [](uv_stream_t* stream, ssize_t count, const uv_buf_t* bytes) {
    auto* self = static_cast<WorkerProcess*>(stream->data);
    auto* source = reinterpret_cast<uv_pipe_t*>(stream);
    if (count < 0) {
      if (source == &self->stdout_) self->events_.end();
      close_handle(stream);
    } else if (count > 0) {
      self->take(*source, std::string_view(bytes->base, static_cast<size_t>(count)));
    }
  };
  uv_read_start(reinterpret_cast<uv_stream_t*>(&pipe), allocate, take_bytes);
}

void WorkerProcess::take(uv_pipe_t& pipe, std::string_view bytes) {
  if (&pipe == &stderr_) {
    take_stderr(bytes);
    return;
  }
  const bool greeted = events_.hello().has_value();
  const bool done = events_.finished();
  events_.feed(bytes);
  if (events_.fault()) {
    kill();
  } else if (!done && events_.finished()) {
    uv_timer_stop(&deadline_);
    uv_timer_start(&guard_, guard_.timer_cb, kExitTimeoutMs, 0);
  } else if (!greeted && events_.hello()) {
    uv_timer_stop(&guard_);
  }
}

void WorkerProcess::take_stderr(std::string_view bytes) {
  stderr_tail_ += bytes;
  if (stderr_tail_.size() > limits::kStderrTailBytes)
    stderr_tail_.erase(0, stderr_tail_.size() - limits::kStderrTailBytes);
  if (!on_stderr_) return;
  for (;;) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const size_t room = limits::kStderrLineBytes - stderr_line_.size();
    stderr_line_ += part.substr(0, room);
    stderr_line_is_cut_ = stderr_line_is_cut_ || part.size() > room;
    if (end == std::string_view::npos) return;
    on_stderr_(stderr_line_ + (stderr_line_is_cut_ ? " ..." : ""));
    stderr_line_.clear();
    stderr_line_is_cut_ = false;
    bytes.remove_prefix(end + 1);
  }
}

void WorkerProcess::kill() {
  if (!running_) return;
  // The whole group, so that nothing the worker started keeps our pipes open.
  if (::kill(-process_.pid, SIGKILL) != 0) uv_process_kill(&process_, SIGKILL);
}

void WorkerProcess::exited(int64_t exit_status, int term_signal) {
  running_ = false;
  exit_status_ = exit_status;
  term_signal_ = term_signal;
  // What it started goes with it. What has left its group may hold the pipes open for ever, so
  // they are read to where they are empty now and not to their end.
  ::kill(-process_.pid, SIGKILL);
  for (uv_pipe_t* pipe : {&stdout_, &stderr_}) take_rest(*pipe);
  events_.end();
  for (uv_timer_t* timer : {&deadline_, &tick_, &guard_}) close_handle(timer);
  for (uv_pipe_t* pipe : {&stdin_, &stdout_, &stderr_}) close_handle(pipe);
  close_handle(&process_);
  if (on_end_) on_end_();
}

void WorkerProcess::take_rest(uv_pipe_t& pipe) {
  uv_os_fd_t fd = -1;
  if (uv_is_closing(reinterpret_cast<uv_handle_t*>(&pipe)) != 0 ||
      uv_fileno(reinterpret_cast<uv_handle_t*>(&pipe), &fd) != 0) {
    return;
  }
  for (size_t taken = 0; taken < limits::kPipeBytes;) {
    const ssize_t count = ::read(fd, buffer_.data(), buffer_.size());  // it does not block
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    taken += static_cast<size_t>(count);
    take(pipe, std::string_view(buffer_.data(), static_cast<size_t>(count)));
  }
}

std::string WorkerProcess::crash_reason() const {
  const std::string reason = term_signal_ != 0
                                 ? "the worker was killed by " + signal_words(term_signal_)
                                 : "the worker ended with exit code " +
                                       std::to_string(exit_status_) + " before its result";
  const std::string last_words = last_line_of(stderr_tail_);
  return last_words.empty() ? reason : reason + "; its last words: " + last_words;
}

JobOutcome WorkerProcess::outcome() {
  JobOutcome outcome;
  outcome.hello = events_.hello();
  if (start_error_) {
    outcome.refused = true;
    outcome.reason = start_error_;
  } else if (events_.result()) {
    outcome.status = Status::ok;
    outcome.result = events_.result();
  } else if (const auto& failed = events_.failed()) {
    outcome.failure = failed->kind;
    outcome.status = failed->kind == FailureKind::oom           ? Status::oom
                     : failed->kind == FailureKind::unsupported ? Status::unsupported
                                                                : Status::error;
    outcome.reason = shortened(printable(failed->message.substr(0, limits::kMessageBytes + 1)),
                               limits::kMessageBytes);
  } else if (timed_out_) {
    outcome.status = Status::timeout;
    outcome.reason = fmt::format("not done after {:g} s (--timeout)", *timeout_s_);
  } else if (events_.fault() && !(term_signal_ != 0 && term_signal_ != SIGKILL)) {
    outcome.refused = events_.refused();
    outcome.reason = events_.fault();
  } else if (silent_) {
    outcome.reason = "the worker said nothing for " + std::to_string(kHelloTimeoutMs / 1000) +
                     " s and was killed";
  } else {
    outcome.reason = crash_reason();
  }
  return outcome;
}

}  // namespace precbench
