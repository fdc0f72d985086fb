// What can end a job besides an error of its own: each becomes a `failed` event of that kind.
#pragma once

#include <c10/util/Exception.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace precbench::train {

// Something this version, this LibTorch or this device cannot do; what() says which and why.
class UnsupportedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// std::invalid_argument, the input's fault, where something does not hold.
inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

// Whether the text is that of an allocation that the driver or one of its libraries refused; only
// the caching allocator's own failures are c10::OutOfMemoryError. cuDNN says alike that it found no
// algorithm for want of a workspace and that there is none: `is_nearly_full` decides.
bool is_out_of_memory(std::string_view message, bool is_nearly_full);

// LibTorch's messages carry a backtrace after the text of their own.
inline std::string message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
}

// Of message_of(), for a place that has one line.
inline std::string first_line_of(const std::exception& error) {
  const std::string message = message_of(error);
  return message.substr(0, message.find('\n'));
}

}  // namespace precbench::train
