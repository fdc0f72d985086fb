#include "common/temporary_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "common/errors.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".precbench-", kSuffix = ".tmp";
constexpr int kMaxLinks = 40;  // as Linux itself

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

TemporaryFile::TemporaryFile(const std::string& folder)
    : name_(folder + "/" + std::string(kPrefix) + "XXXXXX" + std::string(kSuffix)),
      file_(::mkstemps(name_.data(), static_cast<int>(kSuffix.size()))) {
  error_ = file_.get() < 0 ? errno : 0;
  if (error_ == 0) ::flock(file_.get(), LOCK_EX | LOCK_NB);  // some file systems have no locks
}

TemporaryFile::~TemporaryFile() {
  if (file_.get() >= 0 && !is_moved_) ::unlink(name_.c_str());
}

int TemporaryFile::append(std::string_view bytes) {
  if (error_ == 0) error_ = write_all(file_.get(), bytes);
  return error_;
}

int TemporaryFile::finish(mode_t mode) {
  if (error_ == 0 && ::fsync(file_.get()) != 0) error_ = errno;
  if (error_ == 0 && ::fchmod(file_.get(), mode) != 0) error_ = errno;
  return error_;
}

int TemporaryFile::replace(const std::string& path) {
  if (error_ != 0) return error_;
  return moved(::rename(name_.c_str(), path.c_str()));
}

int TemporaryFile::move_to_new(const std::string& path) {
  if (error_ != 0) return error_;
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

bool TemporaryFile::is_name_of_one(std::string_view file_name) {
  return file_name.starts_with(kPrefix) && file_name.ends_with(kSuffix);
}

int TemporaryFile::moved(int result) {
  if (result != 0) return errno;
  is_moved_ = true;
  // Without this the rename itself may be lost with the power. Some file systems cannot.
  const Descriptor folder(::open(folder_of(name_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
  return 0;
}

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
  throw FileError(path + ": cannot be written: " + std::strerror(ELOOP));
}

}  // namespace precbench
