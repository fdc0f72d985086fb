#include "bench/run/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <filesystem>

#include "bench/judge/comparability.h"
#include "bench/run/pilot.h"
#include "common/suggest.h"
#include "common/version.h"

namespace precbench {
namespace {

std::string utc_now(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), format, &parts));
  return text;
}

json tool_json(const std::string& libtorch) {
  json tool = {{"version", tool_version()},
               {"git_sha", nullable(tool_git_sha())},
               {"build_type", tool_build_type()},
               {"compiler", tool_compiler()},
               {"libtorch", libtorch},
               {"unknown", json::object()}};
  if (!tool_git_sha()) tool["unknown"]["git_sha"] = tool_git_sha_unknown_reason();
  return tool;
}

json invocation_json(const Plan& plan) {
  json invocation = {{"argv", plan.argv},       {"config", plan.config},
                     {"context", plan.context}, {"started_at", utc_now("%Y-%m-%dT%H:%M:%SZ")},
                     {"duration_s", nullptr},   {"exit_code", nullptr}};
  for (const char* key : {"duration_s", "exit_code"}) {
    invocation["unknown"][key] = "the comparison had not ended when this was saved";
  }
  if (plan.shard.count > 1) {
    char host[HOST_NAME_MAX + 1] = {};
    ::gethostname(host, HOST_NAME_MAX);
    invocation["shard"] = {
        {"index", plan.shard.index}, {"count", plan.shard.count}, {"host", host}};
  }
  return invocation;
}

// A new name in the results directory, without its ending: when, and which workload.
std::string stem_of_result(const Plan& plan) {
  const std::string stem =
      utc_now("%Y%m%d-%H%M%S") + "-" + plan.job.model + "-" + plan.job.dataset.name;
  std::string name;
  for (const char c : stem)
    name += (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') ? c : '_';
  return (std::filesystem::path(plan.results_dir) / name).string();
}

}  // namespace

Recording::Recording(const Plan& plan, json protocol, json environment,
                     const std::string& libtorch) {
  document_.tool = tool_json(libtorch);
  document_.invocation = invocation_json(plan);
  document_.protocol = std::move(protocol);
  document_.environment = std::move(environment);
  for (const PlannedRow& planned : rows_of(plan)) {
    ModeRecord row;
    row.mode = planned.name();
    row.effective_mode = planned.mode->name;
    document_.modes.push_back(std::move(row));
  }
  if (!plan.save) return;
  if (plan.resume.empty()) {
    stem_ = stem_of_result(plan);
  } else {
    path_ = plan.resume;
  }
}

ModeRecord& Recording::mode(std::string_view name) {
  for (ModeRecord& row : document_.modes) {
    if (row.mode == name) return row;
  }
  throw std::logic_error("recording.cpp: no row for mode " + std::string(name));
}

void Recording::resume(const ResultDocument& earlier, const std::string& path) {
  if (const auto fields = protocol_differences(earlier, document_); !fields.empty()) {
    throw FileError("'" + path + "' cannot be resumed: its protocol differs in " +
                    joined(fields, ", ") +
                    "\n       --resume alone goes on with the file's own options");
  }
  if (const auto machine = machine_differences(earlier, document_); !machine.empty()) {
    throw FileError("'" + path + "' cannot be resumed: it was measured on another machine (" +
                    joined(machine, ", ") +
                    ")\n       one table must come from one machine: start a new comparison");
  }
  for (const ModeRecord& row : earlier.modes) {
    const auto mine = std::find_if(document_.modes.begin(), document_.modes.end(),
                                   [&](const ModeRecord& other) { return other.mode == row.mode; });
    if (mine == document_.modes.end()) {
      // Not asked for this time; finished work stays all the same.
      if (!row.runs.empty() && row.status == Status::ok) document_.modes.push_back(row);
      continue;
    }
    mine->own_batch = row.own_batch;
    for (const RunRecord& run : row.runs) {
      if (run.status != Status::ok) continue;
      mine->effective_mode = row.effective_mode;
      mine->recipe = row.recipe;
      mine->notes = row.notes;
      mine->marks = row.marks;
      mine->runs.push_back(run);
    }
  }
}

bool Recording::has(const RunSlot& slot) const {
  for (const ModeRecord& row : document_.modes) {
    if (row.mode != slot.row.name()) continue;
    return std::any_of(row.runs.begin(), row.runs.end(), [&](const RunRecord& run) {
      return run.seed == int64_t{slot.seed} && run.repeat == slot.repeat && run.role == slot.role;
    });
  }
  return false;
}

std::optional<double> Recording::expected_s(const std::vector<RunSlot>& slots) const {
  double sum_s = 0;
  for (const RunSlot& slot : slots) {
    for (const ModeRecord& row : document_.modes) {
      if (row.mode != slot.row.name()) continue;
      const auto one = precbench::expected_s(row);
      if (!one) return std::nullopt;
      sum_s += *one;
    }
  }
  return sum_s;
}

std::vector<RunSlot> Recording::left_to_run(const Plan& plan) const {
  const auto is_ok = [&](const PlannedRow& planned) {
    const ModeRecord* row = find_mode_record(document_, planned.name());
    return row != nullptr && row->status == Status::ok;
  };
  std::vector<PlannedRow> rows = rows_of(plan);
  // Parts of a comparison count all rows, so that each counts alike.
  if (plan.shard.count == 1) std::erase_if(rows, [&](const auto& row) { return !is_ok(row); });
  std::vector<RunSlot> slots = own_slots(plan, schedule(plan, rows));
  std::erase_if(slots, [&](const RunSlot& slot) { return !is_ok(slot.row) || has(slot); });
  return slots;
}

bool Recording::has_runs() const {
  return std::any_of(document_.modes.begin(), document_.modes.end(),
                     [](const ModeRecord& row) { return !row.runs.empty(); });
}

void Recording::set_status(std::string_view name, Status status, const std::string& reason) {
  ModeRecord& row = mode(name);
  row.status = status;
  row.reason = reason;
}

void Recording::add(const RunSlot& slot, const TrainResult& result, const json& energy,
                    const std::optional<double>& others_share) {
  ModeRecord& row = mode(slot.row.name());
  row.effective_mode = result.effective_mode;
  if (row.runs.empty()) row.recipe = result.recipe;
  for (const std::string& note : result.notes) {
    if (std::find(row.notes.begin(), row.notes.end(), note) == row.notes.end())
      row.notes.push_back(note);
  }
  RunRecord run = result.run;
  run.energy = energy;
  run.unknown.erase("energy");
  run.others_share = others_share;
  append(slot, std::move(run));
}

void Recording::add_failure(const RunSlot& slot, Status status, const std::string& reason) {
  RunRecord run;
  run.status = status;
  run.reason = reason;
  run.unknown["*"] = "the run did not end: " + reason;
  append(slot, std::move(run));
}

RunRecord& Recording::append(const RunSlot& slot, RunRecord run) {
  ModeRecord& row = mode(slot.row.name());
  run.role = slot.role;
  run.seed = slot.seed;
  run.repeat = slot.repeat;
  run.order_index = slot.order_index;
  if (run.status != Status::ok && row.status == Status::ok) {
    row.status = run.status;
    row.reason = run.reason;
  }
  row.runs.push_back(std::move(run));
  return row.runs.back();
}

void Recording::mark_once(std::string_view name, const Mark& mark) {
  std::vector<Mark>& marks = mode(name).marks;
  const bool stands = std::any_of(marks.begin(), marks.end(),
                                  [&](const Mark& other) { return other.id == mark.id; });
  if (!stands) marks.push_back(mark);
}

void Recording::close_unfinished(const std::string& reason) {
  for (ModeRecord& row : document_.modes) {
    if (row.runs.empty() && row.status == Status::ok) {
      row.status = Status::skipped;
      row.reason = reason;
    }
  }
}

void Recording::choose_reference(const std::string& wanted) {
  document_.reference.clear();
  const auto is_usable = [](const ModeRecord& row) {
    return std::any_of(row.runs.begin(), row.runs.end(),
                       [](const RunRecord& run) { return run.status == Status::ok; });
  };
  for (const ModeRecord& row : document_.modes) {
    if (!is_usable(row)) continue;
    if (document_.reference.empty() || row.mode == wanted) document_.reference = row.mode;
  }
}

ExitCode Recording::outcome() const {
  bool any_ok = false;
  bool any_failed = false;
  for (const ModeRecord& row : document_.modes) {
    any_ok = any_ok || row.status == Status::ok;
    any_failed = any_failed || is_failure(row.status);
  }
  if (!any_ok) return ExitCode::nothing_ran;
  return any_failed ? ExitCode::partial : ExitCode::ok;
}

void Recording::set_exit_code(ExitCode code) {
  json& invocation = document_.invocation;
  invocation["exit_code"] = static_cast<int>(code);
  invocation["duration_s"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  invocation["unknown"] = json::object();
}

std::optional<std::string> Recording::save() {
  if (path_) {
    save_result(document_, *path_);
  } else if (stem_) {
    // Somebody may have tidied up while the first run went on.
    std::error_code told_by_the_save;
    std::filesystem::create_directories(std::filesystem::path(*stem_).parent_path(),
                                        told_by_the_save);
    path_ = save_new_result(document_, *stem_);
  }
  return path_;
}

}  // namespace precbench
