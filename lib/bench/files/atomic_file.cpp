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

namespace precbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporaryPrefix = ".precbench-", kTemporarySuffix = ".tmp";
constexpr int kMaxLinks = 40;  // as Linux itself

// A reader that is started in the same moment needs a little to open its end of a pipe.
constexpr int kPipeTries = 100, kPipeTryMs = 100;
constexpr int kDrainTries = 100, kDrainTryMs = 10;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw FileError(path + ": cannot be written: " + why);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// 0 or the errno of what failed.
int write_all(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) done += static_cast<size_t>(written);
  }
  return 0;
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A temporary file that its writer holds locked, so that a sweep knows the living from the dead.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& folder)
      : name_(folder + "/" + std::string(kTemporaryPrefix) + "XXXXXX" +
              std::string(kTemporarySuffix)),
        file_(::mkstemps(name_.data(), static_cast<int>(kTemporarySuffix.size()))) {
    error_ = file_.get() < 0 ? errno : 0;
    if (error_ == 0) ::flock(file_.get(), LOCK_EX | LOCK_NB);  // some file systems have no locks
  }
  ~TemporaryFile() {
    if (file_.get() >= 0 && !is_moved_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // Each returns 0 or the errno of what failed.
  int write(const std::string& text, mode_t mode) {
    if (error_ == 0) error_ = write_all(file_.get(), text);
    if (error_ == 0 && ::fsync(file_.get()) != 0) error_ = errno;
    if (error_ == 0 && ::fchmod(file_.get(), mode) != 0) error_ = errno;
    return error_;
  }
  int replace(const std::string& path) { return moved(::rename(name_.c_str(), path.c_str())); }
  // EEXIST where there is something of that name.
  int move_to_new(const std::string& path) {
    if (::renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
      return moved(0);
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // A file system without it: the name is taken first, then filled.
    const Descriptor taken(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (taken.get() < 0) return errno;
    const int error = replace(path);
    if (error != 0) ::unlink(path.c_str());
    return error;
  }

 private:
  int moved(int result) {
    if (result != 0) return errno;
    is_moved_ = true;
    // Without this the rename itself may be lost with the power. Some file systems cannot.
    const Descriptor folder(::open(folder_of(name_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() >= 0) ::fsync(folder.get());
    return 0;
  }

  std::string name_;
  Descriptor file_;
  int error_ = 0;
  bool is_moved_ = false;
};

// mkstemp makes files for their owner alone; a result is as readable as any other new file.
mode_t mode_of_new_files() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

std::string behind_links(std::string path) {
  for (int links = 0; links < kMaxLinks; ++links) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return path;
    path = (target.is_absolute() ? target : fs::path(path).parent_path() / target).string();
  }
  fail(path, std::strerror(ELOOP));
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
  int error = file.write(text, status ? status->st_mode & 07777 : mode_of_new_files());
  if (error == 0) error = file.replace(target);
  if (error != 0) fail(path, std::strerror(error));
}

std::string create_atomically(const std::string& stem, const std::string& text) {
  const std::string first = stem + ".json";
  TemporaryFile file(folder_of(stem));
  if (const int error = file.write(text, mode_of_new_files()); error != 0)
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
    if (!name.starts_with(kTemporaryPrefix) || !name.ends_with(kTemporarySuffix)) continue;
    const Descriptor file(
        ::open(entry.path().c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    const bool is_left = file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
    if (is_left) ::unlink(entry.path().c_str());
  }
}

int try_writing_into(const std::string& folder) {
  return TemporaryFile(folder).write("x", mode_of_new_files());
}

}  // namespace precbench
