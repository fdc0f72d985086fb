#include "data/text.h"

#include <algorithm>

#include "data/file_reader.h"

namespace precbench::data {
namespace {

constexpr uint64_t kMaxTextBytes = uint64_t{4} << 30;

// Nine tenths train.
constexpr size_t kTrainParts = 9;
constexpr size_t kParts = 10;

}  // namespace

TextSet read_text(const std::string& path, int64_t context) {
  FileReader file(path);
  std::vector<uint8_t> bytes = file.read_up_to(kMaxTextBytes);
  if (file.count_rest(1) != 0) fail_file(path, "holds more than 4 GiB of text");
  const size_t train_bytes = bytes.size() * kTrainParts / kParts;
  const size_t test_bytes = bytes.size() - train_bytes;
  const auto needed = static_cast<uint64_t>(context) + 1;
  if (test_bytes < needed) {
    fail_file(path, "is too short: its last tenth, which is for testing, has " +
                        std::to_string(test_bytes) + " bytes, and one sequence needs " +
                        std::to_string(needed) + "; use a longer text or a shorter context");
  }
  const auto boundary = bytes.begin() + static_cast<std::ptrdiff_t>(train_bytes);
  TextSet text;
  text.test.assign(boundary, bytes.end());
  bytes.erase(boundary, bytes.end());
  text.train = std::move(bytes);
  return text;
}

}  // namespace precbench::data
