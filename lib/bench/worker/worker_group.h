// The workers of one job inside a libuv loop: one, or a rank for each device that trains its model
// where nobody else starts the other ranks.
// Ranks end together: without one of them the others have nothing to do.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/files/temporary_folder.h"
#include "bench/worker/worker_process.h"

namespace precbench {

class WorkerGroup {
 public:
  // Gets each line of a worker's stderr, and the job it is at.
  using JobStderrHandler = std::function<void(const Job& job, std::string_view line)>;

  // Events are those of rank 0.
  WorkerGroup(uv_loop_t& loop, EventHandler on_event, TickHandler on_tick,
              JobStderrHandler on_stderr);
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;

  // The loop then runs until all have ended.
  void start(const WorkerCommand& command, const Job& job, const JobLimits& limits);
  void kill();

  // After the loop has run. Of several ranks: the first one's, or that of the rank whose end was
  // the others', with its number before the reason.
  JobOutcome outcome();

 private:
  struct Rank {
    Job job;
    std::unique_ptr<WorkerProcess> process;
    bool reported_failure = false;
    uint64_t looked_at_ms = 0, stopped_since_ms = 0;  // of the loop's clock
  };

  void add_rank(const Job& job);
  void learn(size_t rank, const Event& event);
  void ended(size_t rank);
  void blame(size_t rank, const std::string& reason = "");
  void look_at(size_t rank);
  bool is_shared() const { return ranks_.size() > 1; }

  uv_loop_t& loop_;
  EventHandler on_event_;
  TickHandler on_tick_;
  JobStderrHandler on_stderr_;
  std::optional<TemporaryFolder> meeting_;
  std::vector<Rank> ranks_;
  std::optional<size_t> culprit_;
  std::string culprits_reason_;           // where its own outcome does not tell it
  std::optional<uint64_t> peer_lost_ms_;  // when a rank told that another is gone
  bool is_interrupted_ = false;
};

// What rank `rank` of several gets: its device, its share of the threads. Files are the first
// rank's to write.
Job job_of_rank(const Job& job, int64_t rank, const std::string& meeting);

}  // namespace precbench
