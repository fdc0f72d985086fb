#include "bench/run/interleave.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

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

std::vector<std::string> shell_words(const std::string& text) {
  std::vector<std::string> words;
  char quote = '\0';
  bool is_open = false;
  for (const char c : text) {
    if (quote != '\0' ? c == quote : c == '\'' || c == '"') {
      quote = quote == '\0' ? c : '\0';
    } else if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
      is_open = false;
      continue;
    } else {
      if (!is_open) words.emplace_back();
      is_open = true;
      words.back() += c;
      continue;
    }
    if (!is_open) words.emplace_back();  // an empty pair of quotes is a word
    is_open = true;
  }
  if (quote != '\0') throw UsageError("--run " + text + ": a quote is not closed");
  return words;
}

bool is_assignment(const std::string& word) {
  const size_t equals = word.find('=');
  return equals != std::string::npos && equals > 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
         });
}

void find_program(const std::string& named, const std::string& self, Side& side) {
  std::error_code ignored;
  side.program = named == "this" ? self : named;
  if (named.find('/') == std::string::npos && !fs::is_directory(named, ignored)) return;
  if (!fs::exists(named, ignored)) throw UsageError("--run: there is no '" + named + "'");
  if (!fs::is_directory(named, ignored)) return;
  if (fs::exists(fs::path(named) / "lib" / "libtorch_cpu.so", ignored)) {
    side.program = self;
    side.environment.push_back("PRECBENCH_LIBTORCH=" + fs::absolute(named).string());
    return;
  }
  for (const char* inside : {"bin/precbench", "scripts/precbench", "precbench"}) {
    if (fs::is_regular_file(fs::path(named) / inside, ignored)) {
      side.program = (fs::path(named) / inside).string();
      return;
    }
  }
  throw UsageError(
      "--run: the folder '" + named +
      "' holds neither a precbench (bin/, scripts/) nor a LibTorch (lib/libtorch_cpu.so)");
}

// One child at a time; a signal that ends us ends it first, and it saves nothing then.
std::atomic<pid_t> running_child{0};
std::atomic<int> received_signal{0};

void pass_signal_on(int signal) {
  received_signal = signal;
  if (const pid_t child = running_child; child > 0) kill(child, signal);
}

class SignalsPassedOn {
 public:
  SignalsPassedOn() {
    received_signal = 0;
    struct sigaction action {};
    action.sa_handler = pass_signal_on;
    sigaction(SIGINT, &action, &before_[0]);
    sigaction(SIGTERM, &action, &before_[1]);
  }
  ~SignalsPassedOn() {
    sigaction(SIGINT, &before_[0], nullptr);
    sigaction(SIGTERM, &before_[1], nullptr);
  }
  SignalsPassedOn(const SignalsPassedOn&) = delete;
  SignalsPassedOn& operator=(const SignalsPassedOn&) = delete;

 private:
  struct sigaction before_[2]{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_of(const Side& side) {
  std::vector<std::string> all = side.environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string key = text.substr(0, text.find('=') + 1);
    const bool is_replaced = std::any_of(side.environment.begin(), side.environment.end(),
                                         [&](const auto& own) { return own.starts_with(key); });
    if (!is_replaced) all.push_back(text);
  }
  return all;
}

// Exit code of the ended program; 128 + the signal's number if one ended it. What it says on
// standard error is shown where wanted: the same warnings would come again every round.
int exit_code_of(const Side& side, std::vector<std::string> arguments, bool is_heard) {
  arguments.insert(arguments.begin(), side.program);
  std::vector<std::string> environment = environment_of(side);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (!is_heard) {
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int error = posix_spawnp(&child, side.program.c_str(), &files, nullptr,
                                 pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    throw UsageError("--run: cannot start '" + side.program + "': " + std::strerror(error));
  }
  running_child = child;
  if (received_signal != 0) kill(child, received_signal);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running_child = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "precbench-turn-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw FileError("cannot make a folder in " + fs::temp_directory_path().string() + ": " +
                      std::strerror(errno));
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path path() const { return path_; }

 private:
  fs::path path_;
};

std::string described(const Side& side, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = side.environment;
  words.push_back(side.program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return terminal_text(joined(words));
}

ResultDocument measured_turn(const InterleavePlan& plan, const Turn& turn, const fs::path& folder) {
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
  if (code == 128 + SIGINT || code == 128 + SIGTERM) received_signal = code - 128;
  if (received_signal != 0) return {};
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

Side parse_side(const std::string& text, const std::string& self) {
  Side side;
  std::error_code ignored;
  const std::vector<std::string> words =
      fs::exists(text, ignored) ? std::vector<std::string>{text} : shell_words(text);
  size_t next = 0;
  while (next < words.size() && is_assignment(words[next])) {
    side.environment.push_back(words[next++]);
  }
  // Options alone are options of this program.
  const bool has_program = next < words.size() && !words[next].starts_with("--");
  find_program(has_program ? words[next++] : "this", self, side);
  side.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(next), words.end());
  return side;
}

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
      if (run.role != "measure") continue;
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
  const TemporaryFolder folder;
  const SignalsPassedOn signals;
  Interleaved result;
  std::string stem;
  int64_t order = 0;
  const auto began = Clock::now();
  for (size_t i = 0; i < turns.size(); ++i) {
    const Turn& turn = turns[i];
    const ResultDocument measured = measured_turn(plan, turn, folder.path());
    if (received_signal != 0) {
      result.signal = received_signal;
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
