#include "bench/run/side.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "bench/text/escape.h"
#include "common/errors.h"
#include "common/suggest.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

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

// One child at a time.
std::atomic<pid_t> running_child{0};
std::atomic<int> received_signal{0};

void pass_signal_on(int signal) {
  received_signal = signal;
  if (const pid_t child = running_child; child > 0) kill(child, signal);
}

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

SignalsPassedOn::SignalsPassedOn() {
  received_signal = 0;
  struct sigaction action {};
  action.sa_handler = pass_signal_on;
  sigaction(SIGINT, &action, &before_[0]);
  sigaction(SIGTERM, &action, &before_[1]);
}

SignalsPassedOn::~SignalsPassedOn() {
  sigaction(SIGINT, &before_[0], nullptr);
  sigaction(SIGTERM, &before_[1], nullptr);
}

void SignalsPassedOn::took(int signal) { received_signal = signal; }

std::optional<int> SignalsPassedOn::received() const {
  const int signal = received_signal;
  return signal == 0 ? std::nullopt : std::optional<int>(signal);
}

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

std::string described(const Side& side, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = side.environment;
  words.push_back(side.program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return terminal_text(joined(words));
}

}  // namespace precbench
