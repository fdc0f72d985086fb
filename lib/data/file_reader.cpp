#include "data/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/errors.h"
#include "common/limits.h"

namespace precbench::data {
namespace {

constexpr unsigned kBufferBytes = 1U << 17;

// zlib counts in unsigned int; a block of this size is far below that and far above any overhead.
constexpr size_t kBlockBytes = size_t{1} << 24;

// No deflate stream inflates to more than this many times its size (zlib.net/zlib_tech.html: 1032).
constexpr uint64_t kMaxInflation = 1032;

// More than this is not asked of the system at once, whatever a header says.
constexpr uint64_t kMaxReserve = uint64_t{1} << 28;

// zlib puts the name that it knows the file by, "<fd:3>: ", before its reasons.
std::string without_name(std::string_view reason) {
  const size_t colon = reason.find(": ");
  return std::string(colon == std::string_view::npos ? reason : reason.substr(colon + 2));
}

}  // namespace

void fail_file(const std::string& path, const std::string& what) {
  throw FileError("'" + path + "' " + what);
}

FileReader::FileReader(std::string path) : path_(std::move(path)) {
  // O_NONBLOCK: a named pipe without a writer would be waited for.
  const int descriptor = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail_file(path_, std::string("cannot be read: ") + std::strerror(errno));
  struct stat status {};
  std::string problem;
  if (fstat(descriptor, &status) != 0) {
    problem = std::string("cannot be read: ") + std::strerror(errno);
  } else if (S_ISDIR(status.st_mode)) {
    problem = "is a folder, not a file";
  } else if (!S_ISREG(status.st_mode)) {
    problem = "is not a regular file";
  } else if (status.st_size == 0) {
    problem = "is empty";
  } else {
    size_on_disk_ = static_cast<uint64_t>(status.st_size);
    file_ = gzdopen(descriptor, "rb");
    if (file_ == nullptr) problem = "cannot be read: out of memory";
  }
  if (!problem.empty()) {
    close(descriptor);
    fail_file(path_, problem);
  }
  gzbuffer(file_, kBufferBytes);
}

FileReader::~FileReader() { gzclose_r(file_); }

size_t FileReader::read(std::span<uint8_t> buffer) {
  size_t filled = 0;
  while (filled < buffer.size()) {
    const size_t wanted = std::min(buffer.size() - filled, kBlockBytes);
    const int count = gzread(file_, buffer.data() + filled, static_cast<unsigned>(wanted));
    // zlib first gives what it could inflate, then reports the end that should not be there.
    int code = Z_OK;
    const std::string_view reason = gzerror(file_, &code);
    if (code == Z_ERRNO) fail_file(path_, std::string("cannot be read: ") + std::strerror(errno));
    if (code == Z_BUF_ERROR) {
      fail_file(path_, "is truncated: its compressed data end too early; get the file again");
    }
    if (count < 0 || code != Z_OK) {
      fail_file(path_, "is corrupt (" + without_name(reason) + "); get the file again");
    }
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  return filled;
}

std::vector<uint8_t> FileReader::read_up_to(uint64_t count) {
  const uint64_t possible = gzdirect(file_) != 0 ? size_on_disk_ : size_on_disk_ * kMaxInflation;
  std::vector<uint8_t> bytes;
  bytes.reserve(std::min({count, possible, kMaxReserve}));
  while (bytes.size() < count) {
    const size_t before = bytes.size();
    // A small file gets a small block; a file that grows meanwhile is read to its new end.
    const uint64_t expected = possible > before ? possible - before : kBufferBytes;
    const size_t wanted = std::min<uint64_t>({count - before, expected, kBlockBytes});
    bytes.resize(before + wanted);
    const size_t filled = read({bytes.data() + before, wanted});
    bytes.resize(before + filled);
    if (filled < wanted) break;
  }
  return bytes;
}

uint64_t FileReader::most_bytes(uint64_t times) const {
  if (gzdirect(file_) != 0) return UINT64_MAX;  // it may grow
  return std::max(limits::kFreelyInflated, times * size_on_disk_);
}

uint64_t FileReader::count_rest(uint64_t limit) {
  std::array<uint8_t, kBufferBytes> ignored;
  uint64_t count = 0;
  while (count < limit) {
    const size_t wanted = std::min<uint64_t>(limit - count, ignored.size());
    const size_t filled = read({ignored.data(), wanted});
    count += filled;
    if (filled < wanted) break;
  }
  return count;
}

}  // namespace precbench::data
