// The bytes of a pickle, taken from its beginning. Everything throws StatePickleError where they
// end too early.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "train/data/state_pickle.h"

namespace precbench::train::pickle {

class Bytes {
 public:
  explicit Bytes(std::string_view pickle) : rest_(pickle) {}

  std::string_view take(size_t count) {
    if (count > rest_.size()) throw StatePickleError("its pickle is cut off");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  // Little endian.
  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    const std::string_view taken = take(bytes);
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(taken[i]);
    return value;
  }

  // A trailing L is Python 2's.
  int64_t decimal_integer() {
    const std::string_view text = line();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
    if (error != std::errc() || (end != text.end() && *end != 'L')) {
      throw StatePickleError("it has a number that is none");
    }
    return value;
  }

  int64_t long_integer(size_t bytes) {
    const std::string_view taken = take(bytes);
    if (bytes > sizeof(int64_t)) throw StatePickleError("it has a number of over 64 bits");
    uint64_t value = bytes > 0 && (taken[bytes - 1] & 0x80) != 0 ? ~uint64_t{0} : 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(taken[i]);
    return static_cast<int64_t>(value);
  }

  std::string_view line() {
    const size_t end = rest_.find('\n');
    const std::string_view text = take(end == std::string_view::npos ? rest_.size() + 1 : end);
    take(1);
    return text;
  }

 private:
  std::string_view rest_;
};

}  // namespace precbench::train::pickle
