#include "bench/worker/python.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace precbench {
namespace {

// `python -c` puts an empty entry, which means the current folder, before all others.
constexpr const char* kBefore =
    "import sys; sys.path[:] = [p for p in sys.path if p]\nimport importlib.util, os\n";

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

PythonAnswer ask_python(const std::string& python, const std::string& code) {
  PythonAnswer answer;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    answer.problem = std::string("no pipe to ") + python + ": " + std::strerror(errno);
    return answer;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = python;
  std::string option = "-c";
  std::string text = kBefore + code;
  std::array<char*, 4> arguments = {program.data(), option.data(), text.data(), nullptr};
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    answer.problem = python + " does not start (" + std::strerror(failed) + ")";
  } else {
    answer.started = true;
    answer.text = read_to_end(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) answer.text.clear();
    if (answer.text.ends_with('\n')) answer.text.pop_back();
  }
  close(ends[0]);
  return answer;
}

}  // namespace precbench
