#include "bench/worker/worker_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>

namespace precbench {
namespace {

constexpr double kMsPerSecond = 1e3;

// A rank whose connection broke tells it at once; the one that broke it is found dead by then, or
// tells its own failure, within this time. One that does neither has hung.
constexpr uint64_t kCauseMs = 3'000;

// How often is looked whether a rank was stopped (SIGSTOP), and how long it may be: nobody who
// looks into a process is served by a run that ends at once, and nothing goes on without it.
constexpr uint64_t kLookMs = 500, kStoppedMs = 5'000;

// 'T' of "1234 (precbench-worker) T 1 ...": the state follows the last parenthesis.
bool is_stopped(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.substr(name_end).starts_with(") T");
}

}  // namespace

Job job_of_rank(const Job& job, int64_t rank, const std::string& meeting) {
  Job own = job;
  own.rank = rank;
  own.meeting = meeting;
  own.threads = std::max<int64_t>(1, job.threads / job.train.devices);
  if (rank > 0) {
    own.train.save_weights.clear();
    own.train.dump_trace.clear();
  }
  return own;
}

WorkerGroup::WorkerGroup(uv_loop_t& loop, EventHandler on_event, TickHandler on_tick,
                         JobStderrHandler on_stderr)
    : loop_(loop),
      on_event_(std::move(on_event)),
      on_tick_(std::move(on_tick)),
      on_stderr_(std::move(on_stderr)) {}

void WorkerGroup::start(const WorkerCommand& command, const Job& job, const JobLimits& limits) {
  if (precbench::is_shared(job) && job.meeting.empty()) {
    meeting_.emplace("meeting");
    const std::string place = "file:" + (meeting_->path() / "ranks").string();
    for (int64_t rank = 0; rank < job.train.devices; ++rank) {
      add_rank(job_of_rank(job, rank, place));
    }
  } else {
    add_rank(job);
  }
  for (size_t rank = 0; rank < ranks_.size() && !culprit_; ++rank) {
    WorkerProcess& process = *ranks_[rank].process;
    process.start(command, ranks_[rank].job, limits);
    if (is_shared() && !process.is_running()) blame(rank);
  }
}

void WorkerGroup::add_rank(const Job& job) {
  const size_t rank = ranks_.size();
  StderrHandler on_line;
  if (on_stderr_) {
    on_line = [this, rank](std::string_view line) { on_stderr_(ranks_[rank].job, line); };
  }
  auto process = std::make_unique<WorkerProcess>(
      loop_, [this, rank](const Event& event) { learn(rank, event); },
      [this, rank] { look_at(rank); }, on_line);
  process->on_end([this, rank] { ended(rank); });
  ranks_.push_back({job, std::move(process)});
}

void WorkerGroup::kill() {
  is_interrupted_ = true;
  for (const Rank& each : ranks_) each.process->kill();
}

void WorkerGroup::learn(size_t rank, const Event& event) {
  if (rank == 0 && on_event_) on_event_(event);
  const auto* failed = std::get_if<FailedEvent>(&event);
  if (failed == nullptr || !is_shared()) return;
  ranks_[rank].reported_failure = true;
  if (failed->kind != FailureKind::peer) {
    blame(rank);
  } else if (!peer_lost_ms_) {
    peer_lost_ms_ = uv_now(&loop_);
  }
}

void WorkerGroup::ended(size_t rank) {
  if (!is_shared() || is_interrupted_) return;
  if (!ranks_[rank].process->has_result() && !ranks_[rank].reported_failure) blame(rank);
}

// Its end is the end of all.
void WorkerGroup::blame(size_t rank, const std::string& reason) {
  if (culprit_) return;
  culprit_ = rank;
  culprits_reason_ = reason;
  for (const Rank& each : ranks_) each.process->kill();
}

void WorkerGroup::look_at(size_t rank) {
  if (rank == 0 && on_tick_) on_tick_();
  if (!is_shared() || culprit_) return;
  Rank& each = ranks_[rank];
  const uint64_t now_ms = uv_now(&loop_);
  if (peer_lost_ms_ && now_ms - *peer_lost_ms_ > kCauseMs && !each.reported_failure) {
    blame(rank, "it neither went on nor ended when another rank had lost it");
    return;
  }
  if (now_ms - each.looked_at_ms < kLookMs) return;
  each.looked_at_ms = now_ms;
  if (!is_stopped(each.process->pid())) {
    each.stopped_since_ms = 0;
  } else if (each.stopped_since_ms == 0) {
    each.stopped_since_ms = now_ms;
  } else if (now_ms - each.stopped_since_ms >= kStoppedMs) {
    blame(rank, fmt::format("the worker was stopped (SIGSTOP) for {:g} s",
                            static_cast<double>(kStoppedMs) / kMsPerSecond));
  }
}

JobOutcome WorkerGroup::outcome() {
  if (!is_shared()) return ranks_.front().process->outcome();
  std::vector<JobOutcome> outcomes;
  for (const Rank& each : ranks_) outcomes.push_back(each.process->outcome());
  // Where all have lost each other and nobody knows why: what the first of them said.
  const auto lost = std::find_if(outcomes.begin(), outcomes.end(),
                                 [](const JobOutcome& each) { return !each.result; });
  if (!culprit_ && lost == outcomes.end()) return outcomes.front();
  const size_t rank = culprit_.value_or(static_cast<size_t>(lost - outcomes.begin()));
  JobOutcome outcome = outcomes[rank];
  if (!culprits_reason_.empty()) outcome.reason = culprits_reason_;
  outcome.result.reset();
  outcome.hello = outcomes.front().hello;
  std::string who = fmt::format("rank {}", rank);
  if (outcome.status == Status::timeout) {
    // The clock is all ranks'; who kept them waiting may be known.
    const auto stopped = std::find_if(ranks_.begin(), ranks_.end(),
                                      [](const Rank& each) { return each.stopped_since_ms > 0; });
    if (stopped == ranks_.end()) return outcome;
    who = fmt::format("rank {} was stopped", stopped - ranks_.begin());
  }
  outcome.reason = who + ": " + outcome.reason.value_or("it ended");
  return outcome;
}

}  // namespace precbench
