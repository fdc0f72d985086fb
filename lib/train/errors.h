// What can end a job besides an error of its own: each becomes a `failed` event of that kind.
#pragma once

#include <c10/util/Exception.h>

#include <stdexcept>
#include <string>

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
