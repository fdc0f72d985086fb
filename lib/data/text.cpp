#include "data/text.h"

#include <algorithm>

#include "common/limits.h"
#include "data/file_reader.h"

namespace precbench::data {
namespace {

// Nine tenths train.
constexpr size_t kTrainParts = 9;
constexpr size_t kParts = 10;

}  // namespace

TextSet read_text(const std::string& path, int64_t context) {
  FileReader file(path);
  const uint64_t most = std::min(limits::kTextBytes, file.most_bytes(limits::kTextInflation));
  std::vector<uint8_t> bytes = file.read_up_to(most);
  if (file.count_rest(1) != 0) {
    fail_file(path, most == limits::kTextBytes
                        ? "holds more than 4 GiB of text"
                        : "inflates to over " + std::to_string(limits::kTextInflation) +
                              " times its size, which no text does; inflate it with gunzip if it "
                              "is one");
  }
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
