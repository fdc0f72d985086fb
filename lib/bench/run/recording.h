// The result file as it grows: one row per mode, a run added when it ends, saved at once.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "bench/plan/plan.h"
#include "bench/plan/schedule.h"
#include "bench/result/document.h"
#include "common/errors.h"

namespace precbench {

class Recording {
 public:
  // Rows for all modes of the plan, in each engine; protocol and environment are known by now.
  Recording(const Plan& plan, json protocol, json environment, const std::string& libtorch);

  // Goes on with an earlier, interrupted comparison: its runs that are ok are kept. Throws
  // FileError when it was made under another protocol or on another machine, naming what differs.
  void resume(const ResultDocument& earlier, const std::string& path);
  bool has(const RunSlot& slot) const;  // a run that was kept
  bool has_runs() const;
  // What this process has still to run: rows that are ok, in their turn.
  std::vector<RunSlot> left_to_run(const Plan& plan) const;
  // How long these are going to take, by what is known of their modes; nothing when a mode's time
  // is not known.
  std::optional<double> expected_s(const std::vector<RunSlot>& slots) const;

  ResultDocument& document() { return document_; }
  ModeRecord& mode(std::string_view name);

  // A row that will not run, with why.
  void set_status(std::string_view mode, Status status, const std::string& reason);
  // A run that sent its result; `energy` is what was seen of the GPU meanwhile (NvmlReport),
  // `others_share` what others took of the processors.
  void add(const RunSlot& slot, const TrainResult& result, const json& energy,
           const std::optional<double>& others_share);
  void add_failure(const RunSlot& slot, Status status, const std::string& reason);

  void mark_once(std::string_view mode,
                 const Mark& mark);  // keeps the first of several with one id

  // Rows that have no run yet get status skipped.
  void close_unfinished(const std::string& reason);

  // Chooses the reference: the plan's, else the first mode that is ok.
  void choose_reference(const std::string& wanted);

  // 0, 3 or 4: the part of the exit code that the rows decide.
  ExitCode outcome() const;

  void set_exit_code(ExitCode code);

  // Writes the file if the plan wants one; returns its path. Throws FileError.
  std::optional<std::string> save();

 private:
  RunRecord& append(const RunSlot& slot, RunRecord run);

  ResultDocument document_;
  std::optional<std::string> stem_;  // of the name that the first save takes
  std::optional<std::string> path_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace precbench
