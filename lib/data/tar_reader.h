// The entries of a .tar or .tar.gz, one after the other, without unpacking anything to disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/file_reader.h"

struct archive;
struct archive_entry;

namespace precbench::data {

class TarReader {
 public:
  // Throws FileError: missing, unreadable, not a tar archive.
  explicit TarReader(const std::string& path);

  // Name of the next regular file without its folders; nothing at the end, when the checksum of the
  // whole archive has been found right. Throws FileError: truncated, corrupt.
  std::optional<std::string> next();

  // Content of the entry that next() named. Throws FileError when it is larger than `max_bytes`.
  std::vector<uint8_t> read(uint64_t max_bytes);

 private:
  struct CloseArchive {
    void operator()(archive* reader) const;
  };
  // What libarchive asks for bytes through: an error of the file is kept until its C code is left.
  struct Source;
  struct DeleteSource {
    void operator()(Source* source) const;
  };

  [[noreturn]] void fail();

  std::unique_ptr<Source, DeleteSource> source_;
  std::unique_ptr<archive, CloseArchive> archive_;
  archive_entry* entry_ = nullptr;
};

}  // namespace precbench::data
