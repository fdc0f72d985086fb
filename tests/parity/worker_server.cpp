// precbench-worker without its start: LibTorch is loaded once, and each line of stdin (a job) is
// answered by a fork of this process that runs the worker's own main. Its events go to stdout, then
// one line: {"exit": code}, or
// {"signal": number}.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "train/worker.h"

namespace {

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

// A file in memory that is read from its beginning.
int file_of(const std::string& text) {
  const int file = checked(memfd_create("job", MFD_CLOEXEC), "memfd_create");
  if (pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("a job cannot be written");
  }
  return file;
}

int run_worker(int job) {
  const pid_t child = checked(fork(), "fork");
  if (child == 0) {
    checked(dup2(job, STDIN_FILENO), "dup2");
    const int exit_code = precbench::train::worker_main();
    std::fflush(nullptr);
    std::_Exit(exit_code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return status;
}

}  // namespace

int main() {
  std::ifstream jobs("/dev/stdin");  // its buffer is its own: a fork's std::cin begins empty
  for (std::string line; std::getline(jobs, line);) {
    const int job = file_of(line);
    const int status = run_worker(job);
    close(job);
    if (WIFEXITED(status)) {
      std::printf("{\"exit\": %d}\n", WEXITSTATUS(status));
    } else {
      std::printf("{\"signal\": %d}\n", WTERMSIG(status));
    }
    std::fflush(stdout);
  }
  return EXIT_SUCCESS;
}
