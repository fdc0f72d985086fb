// One file from outside as a stream of bytes, plain or gzip, with errors that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct gzFile_s;  // zlib's

namespace precbench::data {

// "'PATH' WHAT", thrown as FileError (exit code 5).
[[noreturn]] void fail_file(const std::string& path, const std::string& what);

// Inflates what is gzip by its content, whatever its name. zlib, not libarchive: that one ignores
// gzip's checksum, so that a file with one wrong bit would be trained on.
class FileReader {
 public:
  // Throws FileError: missing, unreadable, not a regular file, empty.
  explicit FileReader(std::string path);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // Fills `buffer` as far as the file goes; fewer bytes than asked for mean its end, and that its
  // checksum was right. Throws FileError: truncated or corrupt gzip, an error of the disk.
  size_t read(std::span<uint8_t> buffer);

  // The next `count` bytes, or what is left if that is less. Memory is taken as the bytes come and
  // never for more than the file can hold: a header may promise anything.
  std::vector<uint8_t> read_up_to(uint64_t count);

  // How many bytes are left, counted no further than `limit`. Reads (and so checks) them.
  uint64_t count_rest(uint64_t limit);

  // Where it is compressed, `times` its size and at least 16 MiB; else no bound.
  uint64_t most_bytes(uint64_t times) const;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  uint64_t size_on_disk_ = 0;
  gzFile_s* file_ = nullptr;
};

}  // namespace precbench::data
