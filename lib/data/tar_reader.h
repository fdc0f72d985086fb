// The entries of a .tar or .tar.gz, one after the other, without unpacking anything to disk.
// Written here and not taken from libarchive: an archive of a data set is the plain ustar form,
// whose reading is shorter than what that library would bring into both programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/file_reader.h"

namespace precbench::data {

class TarReader {
 public:
  // Throws FileError: missing, unreadable.
  explicit TarReader(const std::string& path) : file_(path) {}

  // Name of the next regular file without its folders; nothing at the end, when the checksum of the
  // whole archive has been found right. Throws FileError: not a tar archive, truncated, corrupt.
  std::optional<std::string> next();

  // Content of the entry that next() named. Throws FileError when it is larger than `max_bytes`.
  std::vector<uint8_t> read(uint64_t max_bytes);

 private:
  void skip(uint64_t count);

  FileReader file_;
  uint64_t position_ = 0;    // in the archive, unpacked
  uint64_t entry_size_ = 0;  // of the entry that next() named
  uint64_t next_header_ = 0;
};

}  // namespace precbench::data
