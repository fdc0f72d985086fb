// A file beside another one, whose place it takes when it is whole.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

namespace precbench {

// An open file, or none (-1).
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Writes all of it, over interrupts; 0 or the errno of what failed.
int write_all(int fd, std::string_view bytes);

// Its writer holds it locked, so that a sweep (bench/files/atomic_file.h) knows the living from the
// dead. Removed at the end unless it has taken its place. Each call returns 0 or the errno of what
// failed, now or before.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int append(std::string_view bytes);
  int finish(mode_t mode);  // fsync, and the permissions
  int replace(const std::string& path);
  int move_to_new(const std::string& path);  // EEXIST where there is something of that name

  static bool is_name_of_one(std::string_view file_name);

 private:
  int moved(int result);

  std::string name_;
  Descriptor file_;
  int error_ = 0;
  bool is_moved_ = false;
};

// mkstemp makes files for their owner alone; a result is as readable as any other new file.
mode_t mode_of_new_files();

// "." where the path names none.
std::string folder_of(const std::string& path);

// The path that symbolic links lead to. Throws FileError for a circle of them.
std::string behind_links(std::string path);

}  // namespace precbench
