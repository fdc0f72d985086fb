#include "bench/run/interleave.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "bench/files/temporary_folder.h"
#include "bench/judge/comparability.h"
#include "bench/result/measured.h"
#include "bench/text/escape.h"
#include "bench/text/units.h"
#include "common/errors.h"
#include "common/suggest.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kSideNames = {"base", "head"};

ResultDocument measured_turn(const InterleavePlan& plan, const Turn& turn, const fs::path& folder,
                             SignalsPassedOn& signals) {
  const Side& side = plan.sides[turn.side];
  const std::string file = (folder / "turn.json").string();
  std::error_code ignored;
  fs::remove(file, ignored);
  std::vector<std::string> arguments = {"run"};
  arguments.insert(arguments.end(), plan.options.begin(), plan.options.end());
  arguments.insert(arguments.end(), side.arguments.begin(), side.arguments.end());
  if (!turn.mode.empty()) arguments.push_back("--modes=" + turn.mode);
  for (const char* own : {"--repeats=1", "--no-save", "--quiet", "--format=none"}) {
    arguments.emplace_back(own);
  }
  arguments.push_back("--export-json=" + file);
  const int code = exit_code_of(side, arguments, turn.round == 0);
  // Ctrl-C may have reached the side alone.
  if (code == 128 + SIGINT || code == 128 + SIGTERM) signals.took(code - 128);
  if (signals.received()) return {};
  if (fs::exists(file, ignored)) return load_result(file);
  throw UserError(
      code == 2   ? ExitCode::usage
      : code == 5 ? ExitCode::file
                  : ExitCode::nothing_ran,
      fmt::format("{} gave no result in round {} (exit code {}): try\n       {}",
                  kSideNames[turn.side], turn.round + 1, code, described(side, arguments)));
}

// "20261201-023832": when the first turn began.
std::string stamp_of(const ResultDocument& first) {
  std::string stamp;
  for (const char c : text_at(first.invocation, {"started_at"}).value_or("")) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) stamp += c;
    if (c == 'T') stamp += '-';
  }
  return stamp;
}

std::string new_path(const std::string& folder, const std::string& stem, const char* side) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  fs::path path = fs::path(folder) / fmt::format("{}-{}.json", stem, side);
  for (int copy = 2; fs::exists(path, ignored); ++copy) {
    path = fs::path(folder) / fmt::format("{}-{}-{}.json", stem, side, copy);
  }
  return path.string();
}

void choose_reference_of(ResultDocument& document, const std::string& wanted) {
  document.reference = wanted;
  const ModeRecord* reference = reference_mode(document);
  document.reference = reference == nullptr ? "" : reference->mode;
}

std::string outcome_of_turn(const ResultDocument& turn) {
  std::string text;
  for (const ModeRecord& mode : turn.modes) {
    const auto time = metric_estimate(mode, *find_metric("time"));
    text += (text.empty() ? "" : ", ") + terminal_text(mode.mode) + " " +
            (time ? duration_text(time->mean) : std::string(name_of(mode.status)));
  }
  return text;
}

}  // namespace

std::vector<Turn> turns_of(const InterleavePlan& plan) {
  const std::vector<std::string> modes =
      plan.modes.empty() ? std::vector<std::string>{""} : plan.modes;
  std::vector<Turn> turns;
  for (int64_t round = 0; round < plan.rounds; ++round) {
    const size_t first = round % 2 == 0 ? 0 : 1;
    for (const std::string& mode : modes) {
      turns.push_back({first, round, mode});
      turns.push_back({1 - first, round, mode});
    }
  }
  return turns;
}

void append_turn(std::optional<ResultDocument>& whole, const ResultDocument& turn, int64_t round,
                 int64_t& order) {
  if (!whole) {
    whole = turn;
    whole->modes.clear();
  } else if (const auto fields = protocol_differences(*whole, turn); !fields.empty()) {
    throw FileError("the protocol changed between two turns, in " + joined(fields, ", ") +
                    "\n       give those options yourself, so that every turn measures the same");
  }
  for (const ModeRecord& mode : turn.modes) {
    auto mine = std::find_if(whole->modes.begin(), whole->modes.end(),
                             [&](const ModeRecord& other) { return other.mode == mode.mode; });
    if (mine == whole->modes.end()) {
      mine = whole->modes.insert(whole->modes.end(), mode);
      mine->runs.clear();
    }
    if (mine->status == Status::ok && mode.status != Status::ok) {
      mine->status = mode.status;
      mine->reason = mode.reason;
    }
    for (const Mark& mark : mode.marks) {
      if (!has_mark(*mine, mark.id)) mine->marks.push_back(mark);
    }
    for (RunRecord run : mode.runs) {
      if (run.role != Role::measure) continue;
      run.repeat = round;
      run.order_index = order++;
      mine->runs.push_back(std::move(run));
    }
  }
}

Interleaved interleave(const InterleavePlan& plan,
                       const std::function<void(const std::string&)>& tell) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Turn> turns = turns_of(plan);
  const TemporaryFolder folder("turn");
  SignalsPassedOn signals;
  Interleaved result;
  std::string stem;
  int64_t order = 0;
  const auto began = Clock::now();
  for (size_t i = 0; i < turns.size(); ++i) {
    const Turn& turn = turns[i];
    const ResultDocument measured = measured_turn(plan, turn, folder.path(), signals);
    if (signals.received()) {
      result.signal = signals.received();
      break;
    }
    if (stem.empty()) stem = stamp_of(measured);
    std::optional<ResultDocument>& document = result.documents[turn.side];
    const bool is_first = !document;
    append_turn(document, measured, turn.round, order);
    if (is_first) {
      result.files[turn.side] = new_path(plan.results_dir, stem, kSideNames[turn.side]);
      document->invocation["interleaved"] = fmt::format("{}-{}", stem, getpid());
    }
    choose_reference_of(*document, plan.reference);
    save_result(*document, result.files[turn.side]);
    const double spent = std::chrono::duration<double>(Clock::now() - began).count();
    const double left =
        spent / static_cast<double>(i + 1) * static_cast<double>(turns.size() - i - 1);
    tell(fmt::format("[{}/{}] round {} {}: {}{}", i + 1, turns.size(), turn.round + 1,
                     kSideNames[turn.side], outcome_of_turn(measured),
                     left > 0 ? "  about " + duration_text(left) + " left" : ""));
  }
  for (const std::string& file : result.files) {
    if (!file.empty()) tell("saved " + file);
  }
  return result;
}

}  // namespace precbench
