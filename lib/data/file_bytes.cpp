#include "data/file_bytes.h"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "common/errors.h"

namespace precbench::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 16;

struct CloseArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using ArchiveReader = std::unique_ptr<archive, CloseArchive>;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw FileError("'" + path + "' " + what);
}

std::string archive_reason(archive* reader) {
  const char* reason = archive_error_string(reader);
  return reason == nullptr ? "unknown reason" : reason;
}

}  // namespace

std::vector<uint8_t> read_file(const std::string& path, size_t max_bytes) {
  if (std::error_code error; std::filesystem::is_directory(path, error))
    fail(path, "is a folder, not a file");
  const ArchiveReader reader(archive_read_new());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_read_support_format_empty(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), kBlockBytes) != ARCHIVE_OK) {
    fail(path, "cannot be read: " + archive_reason(reader.get()));
  }
  archive_entry* entry = nullptr;
  const int header = archive_read_next_header(reader.get(), &entry);
  if (header == ARCHIVE_EOF) fail(path, "is empty");
  if (header != ARCHIVE_OK) fail(path, "cannot be read: " + archive_reason(reader.get()));

  std::vector<uint8_t> bytes;
  std::array<uint8_t, kBlockBytes> block{};
  for (;;) {
    const auto count = archive_read_data(reader.get(), block.data(), block.size());
    if (count == 0) return bytes;
    if (count < 0) {
      fail(path,
           "is truncated or corrupt (" + archive_reason(reader.get()) + "); get the file again");
    }
    bytes.insert(bytes.end(), block.begin(), block.begin() + count);
    if (bytes.size() > max_bytes) {
      fail(path,
           "holds more than the " + std::to_string(max_bytes) + " bytes that are expected of it");
    }
  }
}

}  // namespace precbench::data
