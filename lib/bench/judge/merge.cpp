#include "bench/judge/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/judge/comparability.h"
#include "bench/result/measured.h"
#include "bench/text/escape.h"
#include "common/errors.h"
#include "common/json_text.h"
#include "common/suggest.h"

namespace precbench {
namespace {

struct ShardOf {
  int64_t index = 0, count = 0;
  std::string host;
};

ShardOf shard_of(const Part& part) {
  const json& invocation = part.document.invocation;
  const auto shard = invocation.find("shard");
  const auto whole = [&](const char* key) {
    const bool is_there = shard != invocation.end() && shard->is_object() && shard->contains(key) &&
                          shard->at(key).is_number_integer();
    return is_there ? shard->at(key).get<int64_t>() : 0;
  };
  const ShardOf found{whole("index"), whole("count"),
                      text_at(invocation, {"shard", "host"}).value_or("")};
  if (found.index < 1 || found.count < found.index) {
    throw FileError(part.file +
                    ": is no part of a comparison\n       parts are made with --shard I/N");
  }
  return found;
}

// Which runs there are and in which order they are dealt out: no part of the protocol, and the same
// in all parts of one comparison.
constexpr const char* kScheduleOptions[] = {"modes",   "engine", "seed",      "seeds",
                                            "repeats", "order",  "reference", "emulated"};

std::string option_of(const Part& part, const char* name) {
  const json& config = part.document.invocation.value("config", json::object());
  if (!config.is_object() || !config.contains(name)) return "";
  const json value = config.at(name).is_object() ? config.at(name).value("value", json()) : json();
  return value.is_null() ? "not given" : json_text(value, -1);
}

void require_together(const Part& first, const Part& other) {
  const auto refuse = [&](const std::string& why) {
    throw FileError(other.file + " does not belong to " + first.file + ": " + why);
  };
  if (const auto fields = protocol_differences(first.document, other.document); !fields.empty()) {
    refuse("its protocol differs in " + joined(fields, ", "));
  }
  for (const char* name : kScheduleOptions) {
    const std::string theirs = option_of(other, name), ours = option_of(first, name);
    if (theirs != ours) {
      refuse(
          fmt::format("its --{} is {}, there {}\n       the parts of a comparison share the runs "
                      "of the same options",
                      name, theirs, ours));
    }
  }
  const auto machine = machine_differences(first.document, other.document);
  if (!machine.empty()) {
    refuse("it is of another kind of machine (" + joined(machine, ", ") +
           ")\n       use precbench matrix to see different machines side by side");
  }
}

// A part that is being made, or was interrupted.
bool is_unfinished(const Part& part) {
  const json code = part.document.invocation.value("exit_code", json());
  return !code.is_number_integer() || code == static_cast<int>(ExitCode::interrupted) ||
         code == static_cast<int>(ExitCode::terminated);
}

// The parts whose runs are not all there, "3, 5 (not finished) of 8".
std::string missing(const std::map<int64_t, const Part*>& parts, int64_t count) {
  std::vector<std::string> found;
  for (int64_t index = 1; index <= count; ++index) {
    const auto part = parts.find(index);
    if (part == parts.end()) {
      found.push_back(std::to_string(index));
    } else if (is_unfinished(*part->second)) {
      found.push_back(fmt::format("{} (not finished)", index));
    }
  }
  return found.empty() ? "" : joined(found, ", ") + fmt::format(" of {}", count);
}

bool is_in_another_part(const ModeRecord& row) {
  return row.status == Status::skipped && row.reason == kInAnotherPart;
}

// Words of one part stay beside those of another.
void add_words(const ModeRecord& row, ModeRecord& into) {
  for (const Mark& mark : row.marks) {
    if (!has_mark(into, mark.id)) into.marks.push_back(mark);
  }
  for (const std::string& note : row.notes) {
    if (std::find(into.notes.begin(), into.notes.end(), note) == into.notes.end())
      into.notes.push_back(note);
  }
}

// What is told of a mode comes from the first part that knows something of it, a failure from any.
void add_row(ModeRecord row, int64_t machine, ModeRecord& into) {
  for (RunRecord& run : row.runs) run.machine = machine;
  if (into.mode.empty() || is_in_another_part(into)) {
    into = std::move(row);
    return;
  }
  if (is_in_another_part(row)) return;
  if (into.runs.empty()) {
    into.effective_mode = row.effective_mode;
    into.recipe = row.recipe;
  }
  if (into.status == Status::ok && row.status != Status::ok) {
    into.status = row.status;
    into.reason = row.reason;
  }
  add_words(row, into);
  std::move(row.runs.begin(), row.runs.end(), std::back_inserter(into.runs));
}

std::string name_of_reference(const ResultDocument& document) {
  return text_at(document.invocation, {"config", "reference", "value"}).value_or("32-true");
}

std::string reference_of(const ResultDocument& document) {
  std::string found;
  for (const ModeRecord& row : document.modes) {
    if (measured_runs(row).empty()) continue;
    if (found.empty() || row.mode == name_of_reference(document)) found = row.mode;
  }
  return found;
}

}  // namespace

Merged merge_parts(std::vector<Part> parts, bool across_machines) {
  std::map<int64_t, const Part*> by_index;
  std::set<std::string> hosts;
  json told = json::array();
  const int64_t count = shard_of(parts.front()).count;
  for (const Part& part : parts) {
    const ShardOf shard = shard_of(part);
    if (shard.count != count) {
      throw FileError(
          fmt::format("{} is a part of {}, {} of {}: parts of one comparison have one count",
                      part.file, shard.count, parts.front().file, count));
    }
    require_together(parts.front(), part);
    const auto [other, is_new] = by_index.emplace(shard.index, &part);
    if (!is_new) {
      throw FileError(fmt::format("{} and {} are both part {} of {}: name one of them",
                                  other->second->file, part.file, shard.index, count));
    }
    hosts.insert(shard.host);
    const json& invocation = part.document.invocation;
    told.push_back({{"file", part.file},
                    {"index", shard.index},
                    {"host", shard.host},
                    {"started_at", invocation.value("started_at", json())},
                    {"duration_s", invocation.value("duration_s", json())}});
  }
  const std::string parts_missing = missing(by_index, count);
  Merged merged;
  merged.document = parts.front().document;
  merged.document.modes.clear();
  merged.document.gate = nullptr;
  json& invocation = merged.document.invocation;
  invocation.erase("shard");
  invocation["parts"] = std::move(told);
  for (size_t i = 0; i < parts.size(); ++i) {
    for (ModeRecord& row : parts[i].document.modes) {
      auto into = std::find_if(merged.document.modes.begin(), merged.document.modes.end(),
                               [&](const ModeRecord& other) { return other.mode == row.mode; });
      if (into == merged.document.modes.end()) {
        into = merged.document.modes.emplace(merged.document.modes.end());
      }
      add_row(std::move(row), static_cast<int64_t>(i), *into);
    }
  }
  for (ModeRecord& row : merged.document.modes) {
    std::stable_sort(row.runs.begin(), row.runs.end(),
                     [](const auto& a, const auto& b) { return a.order_index < b.order_index; });
    const auto twice =
        std::adjacent_find(row.runs.begin(), row.runs.end(), [](const auto& a, const auto& b) {
          return a.order_index == b.order_index && a.machine != b.machine;
        });
    if (twice != row.runs.end()) {
      const auto file_of = [&](const RunRecord& run) {
        return parts[static_cast<size_t>(run.machine.value_or(0))].file;
      };
      throw FileError(fmt::format("{} and {} both have the run of {} with seed {}, repeat {}",
                                  file_of(twice[0]), file_of(twice[1]), row.mode, twice->seed,
                                  twice->repeat));
    }
  }
  if (!parts_missing.empty()) {
    merged.warnings.push_back("missing parts: " + parts_missing +
                              "; not all of their runs are in this result\n         one that is "
                              "not finished goes on with precbench --resume FILE");
    invocation["parts_missing"] = parts_missing;
  }
  if (hosts.size() > 1 && !across_machines) {
    const std::vector<std::string> names(hosts.begin(), hosts.end());
    const std::string why = "its comparison ran on " + joined(names, ", ");
    for (ModeRecord& row : merged.document.modes) {
      if (!row.runs.empty() && !has_mark(row, "other-host"))
        row.marks.push_back({"other-host", why});
    }
    merged.warnings.push_back(
        "the parts ran on " + joined(names, ", ") +
        ": times are not judged; if the machines are alike, --across-machines");
  }
  merged.document.reference = reference_of(merged.document);
  return merged;
}

}  // namespace precbench
