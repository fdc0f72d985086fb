// A reader never sees half a file: write beside it, flush to the disk, rename, flush the folder.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "bench/result/atomic_file.h"
#include "bench/result/document.h"
#include "common/errors.h"

namespace precbench {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw FileError(path + ": " + what + ": " + std::strerror(error));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
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
  return ::fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

void write_atomically(const std::string& path, const std::string& text) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  std::string temporary = path + ".XXXXXX";
  const Descriptor file(::mkstemp(temporary.data()));
  if (file.get() < 0) fail(path, "cannot be written", errno);
  int error = write_all(file.get(), text);
  // mkstemp makes files for their owner alone; a result is as readable as any other new file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (error == 0 && ::fchmod(file.get(), 0666 & ~mask) != 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail(path, "cannot be written", error);
  }
  // Without this the rename itself may be lost with the power. Some file systems cannot.
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (directory.get() >= 0) ::fsync(directory.get());
}

void save_result(const ResultDocument& document, const std::string& path) {
  // Texts of crashed programs need not be UTF-8; the file must be.
  write_atomically(path,
                   to_json(document).dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace precbench
