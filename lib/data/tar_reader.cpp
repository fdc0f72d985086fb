#include "data/tar_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>

namespace precbench::data {
namespace {

constexpr size_t kTarBlockBytes = size_t{1} << 17;

// An archive of a data set is at most some hundred MB; a bomb goes on for ever.
constexpr uint64_t kMaxArchiveBytes = uint64_t{4} << 30;

}  // namespace

struct TarReader::Source {
  explicit Source(const std::string& path) : file(path) {}

  static la_ssize_t read(archive* reader, void* data, const void** block) {
    Source& self = *static_cast<Source*>(data);
    try {
      const size_t count = self.file.read(self.block);
      self.total += count;
      if (self.total > kMaxArchiveBytes) {
        fail_file(self.file.path(), "inflates to more than any archive of a data set holds");
      }
      *block = self.block.data();
      return static_cast<la_ssize_t>(count);
    } catch (...) {
      self.problem = std::current_exception();
      archive_set_error(reader, EIO, "cannot be read");
      return -1;
    }
  }

  FileReader file;
  std::array<uint8_t, kTarBlockBytes> block;
  uint64_t total = 0;
  std::exception_ptr problem;
};

void TarReader::CloseArchive::operator()(archive* reader) const { archive_read_free(reader); }
void TarReader::DeleteSource::operator()(Source* source) const { delete source; }

TarReader::TarReader(const std::string& path)
    : source_(new Source(path)), archive_(archive_read_new()) {
  archive_read_support_format_tar(archive_.get());
  if (archive_read_open(archive_.get(), source_.get(), nullptr, &Source::read, nullptr) !=
      ARCHIVE_OK) {
    fail();
  }
}

std::optional<std::string> TarReader::next() {
  for (;;) {
    const int code = archive_read_next_header(archive_.get(), &entry_);
    if (code == ARCHIVE_EOF) {
      source_->file.count_rest(kMaxArchiveBytes);  // to the checksum, which stands at the end
      return std::nullopt;
    }
    if (code != ARCHIVE_OK) fail();
    const char* name = archive_entry_pathname(entry_);
    if (name == nullptr || archive_entry_filetype(entry_) != AE_IFREG) continue;
    return std::filesystem::path(name).filename().string();
  }
}

std::vector<uint8_t> TarReader::read(uint64_t max_bytes) {
  std::vector<uint8_t> bytes;
  for (;;) {
    const void* block = nullptr;
    size_t count = 0;
    la_int64_t offset = 0;
    const int code = archive_read_data_block(archive_.get(), &block, &count, &offset);
    if (code == ARCHIVE_EOF) return bytes;
    if (code != ARCHIVE_OK) fail();
    // A sparse entry's holes are not data of any data set.
    if (static_cast<uint64_t>(offset) != bytes.size() || count > max_bytes - bytes.size()) {
      fail_file(source_->file.path(), "holds an entry that is larger than it should be");
    }
    const auto* first = static_cast<const uint8_t*>(block);
    bytes.insert(bytes.end(), first, first + count);
  }
}

void TarReader::fail() {
  if (source_->problem) std::rethrow_exception(source_->problem);
  const char* reason = archive_error_string(archive_.get());
  fail_file(source_->file.path(), std::string("is not a tar archive, or a damaged one (") +
                                      (reason == nullptr ? "unknown reason" : reason) +
                                      "); get the file again");
}

}  // namespace precbench::data
