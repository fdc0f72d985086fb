#include "bench/files/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>

#include "bench/files/standard_streams.h"
#include "common/errors.h"
#include "common/temporary_file.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

// A reader that is started in the same moment needs a little to open its end of a pipe.
constexpr int kPipeTries = 100, kPipeTryMs = 100;
constexpr int kDrainTries = 100, kDrainTryMs = 10;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw FileError(path + ": cannot be written: " + why);
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

// Standard output or standard error, where `status` is of the same file (/dev/stdout, or a file
// that the shell redirects them to); -1 for none.
int own_stream(const struct stat& status) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (::fstat(fd, &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino)
      return fd;
  }
  return -1;
}

void pause_ms(int milliseconds) {
  const timespec pause = {0, milliseconds * 1'000'000L};
  ::nanosleep(&pause, nullptr);
}

// Waits for a reader, but not for ever: an interrupt would not end that.
Descriptor opened_for_writing(const std::string& path, bool is_pipe) {
  if (!is_pipe) return Descriptor(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  for (int tries = 0;; ++tries) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) ::fcntl(fd, F_SETFL, 0);
    if (fd >= 0 || errno != ENXIO) return Descriptor(fd);
    if (tries == kPipeTries) fail(path, "it is a pipe and nobody reads from it");
    pause_ms(kPipeTryMs);
  }
}

// A script may end its reader as soon as we have ended.
void wait_until_read(int pipe) {
  for (int tries = 0, left = 0; tries < kDrainTries; ++tries) {
    if (::ioctl(pipe, FIONREAD, &left) != 0 || left == 0) return;
    pause_ms(kDrainTryMs);
  }
}

void write_directly(const std::string& path, const struct stat& status, const std::string& text) {
  const int stream = own_stream(status);
  if (stream == STDOUT_FILENO) return write_stdout(text);
  Descriptor file =
      stream >= 0 ? Descriptor(::dup(stream)) : opened_for_writing(path, S_ISFIFO(status.st_mode));
  if (file.get() < 0) fail(path, std::strerror(errno));
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error here
  const int error = write_all(file.get(), text);
  std::signal(SIGPIPE, before);
  if (error == 0 && S_ISFIFO(status.st_mode)) wait_until_read(file.get());
  if (error != 0) fail(path, std::strerror(error));
}

}  // namespace

std::string file_behind(const std::string& path) {
  if (path == "-") return "";
  const auto status = status_of(path);
  const bool is_file = !status || S_ISREG(status->st_mode) || S_ISDIR(status->st_mode);
  return is_file && !(status && own_stream(*status) >= 0) ? behind_links(path) : "";
}

void write_atomically(const std::string& path, const std::string& text) {
  if (path == "-") return write_stdout(text);
  const auto status = status_of(path);
  const std::string target = file_behind(path);
  if (target.empty()) return write_directly(path, *status, text);
  TemporaryFile file(folder_of(target));
  file.append(text);
  file.finish(status ? status->st_mode & 07777 : mode_of_new_files());
  const int error = file.replace(target);
  if (error != 0) fail(path, std::strerror(error));
}

std::string create_atomically(const std::string& stem, const std::string& text) {
  const std::string first = stem + ".json";
  TemporaryFile file(folder_of(stem));
  file.append(text);
  if (const int error = file.finish(mode_of_new_files()); error != 0)
    fail(first, std::strerror(error));
  for (int copy = 1;; ++copy) {
    const std::string path = copy == 1 ? first : stem + "-" + std::to_string(copy) + ".json";
    const int error = file.move_to_new(path);
    if (error == 0) return path;
    if (error != EEXIST) fail(path, std::strerror(error));
  }
}

void sweep_temporary_files(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!TemporaryFile::is_name_of_one(name)) continue;
    const Descriptor file(
        ::open(entry.path().c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    const bool is_left = file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
    if (is_left) ::unlink(entry.path().c_str());
  }
}

bool names_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || (!path.empty() && fs::is_directory(path, ignored));
}

int try_writing_into(const std::string& folder) {
  TemporaryFile file(folder);
  file.append("x");
  return file.finish(mode_of_new_files());
}

}  // namespace precbench
