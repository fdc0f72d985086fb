#include "data/tar_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "common/limits.h"

namespace precbench::data {
namespace {

// POSIX.1-1988: blocks of 512 bytes; a header's fields are text, numbers in octal.
constexpr size_t kTarBlockBytes = 512;
using TarHeader = std::array<uint8_t, kTarBlockBytes>;

struct TarField {
  size_t offset, length;
};
constexpr TarField kTarName = {0, 100};
constexpr TarField kTarSize = {124, 12};
constexpr TarField kTarChecksum = {148, 8};
constexpr size_t kTarType = 156;

std::string_view tar_text(const TarHeader& header, TarField field) {
  const auto* first = reinterpret_cast<const char*>(header.data()) + field.offset;
  const std::string_view text(first, field.length);
  return text.substr(0, text.find('\0'));
}

// Octal, with blanks around it. Nothing for anything else, as the binary form of sizes over 8 GiB.
std::optional<uint64_t> tar_number(const TarHeader& header, TarField field) {
  std::string_view text = tar_text(header, field);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value * 8 + static_cast<uint64_t>(digit - '0');
  }
  return value;
}

// The sum of the header's bytes, its own field taken as blanks.
bool has_right_checksum(const TarHeader& header) {
  uint64_t sum = kTarChecksum.length * ' ';
  for (size_t i = 0; i < header.size(); ++i) {
    if (i < kTarChecksum.offset || i >= kTarChecksum.offset + kTarChecksum.length) sum += header[i];
  }
  return tar_number(header, kTarChecksum) == sum;
}

bool is_regular_file(char type) { return type == '0' || type == '\0' || type == '7'; }

// Links, devices, folders and pipes have no content, whatever size their header gives.
bool has_content(char type) { return type < '1' || type > '6'; }

uint64_t padded(uint64_t size) {
  return (size + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes;
}

}  // namespace

std::optional<std::string> TarReader::next() {
  for (;;) {
    skip(next_header_ - position_);
    TarHeader header{};
    const size_t count = file_.read(header);
    position_ += count;
    const bool is_end = std::all_of(header.begin(), header.end(), [](uint8_t b) { return b == 0; });
    if (count == 0 || (count == header.size() && is_end)) {
      file_.count_rest(limits::kArchiveBytes);  // to the checksum, which stands at the end
      return std::nullopt;
    }
    if (count < header.size() && position_ > count) {
      fail_file(file_.path(), "is truncated: it ends within a header; get the file again");
    }
    const auto size = tar_number(header, kTarSize);
    if (!has_right_checksum(header) || !size) {
      fail_file(file_.path(), "is not a tar archive, or a damaged one; get the file again");
    }
    const char type = static_cast<char>(header[kTarType]);
    entry_size_ = has_content(type) ? *size : 0;
    next_header_ = position_ + padded(entry_size_);
    // Other entries that have content describe the one after them (a name of over 100 bytes, times
    // of more digits): nothing that a data set needs.
    if (is_regular_file(type)) {
      return std::filesystem::path(tar_text(header, kTarName)).filename().string();
    }
  }
}

std::vector<uint8_t> TarReader::read(uint64_t max_bytes) {
  if (entry_size_ > max_bytes) {
    fail_file(file_.path(), "holds an entry that is larger than it should be");
  }
  std::vector<uint8_t> bytes = file_.read_up_to(entry_size_);
  position_ += bytes.size();
  if (bytes.size() < entry_size_) {
    fail_file(file_.path(), "is truncated: it ends within an entry; get the file again");
  }
  return bytes;
}

void TarReader::skip(uint64_t count) {
  if (count > limits::kArchiveBytes - std::min(position_, limits::kArchiveBytes)) {
    fail_file(file_.path(), "inflates to more than any archive of a data set holds");
  }
  const uint64_t skipped = file_.count_rest(count);
  position_ += skipped;
  if (skipped < count) {
    fail_file(file_.path(), "is truncated: it ends within an entry; get the file again");
  }
}

}  // namespace precbench::data
