// What can end a job besides an error of its own: each becomes a `failed` event of that kind.
#pragma once

#include <stdexcept>
#include <string>

namespace precbench::train {

// Something this version, this LibTorch or this device cannot do; what() says which and why.
class UnsupportedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace precbench::train
