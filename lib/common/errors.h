// Errors that a user can cause, each with the exit code of the command line contract (docs/cli.md).
// A message says what was wrong, what is allowed, and what to do next; it may have several lines.
#pragma once

#include <stdexcept>
#include <string>

namespace precbench {

enum class ExitCode : int {
  ok = 0,
  gate_failed = 1,
  usage = 2,
  partial = 3,      // some modes failed, some succeeded
  nothing_ran = 4,  // nothing succeeded, or no usable device
  file = 5,  // bad, truncated or missing data, unwritable results directory, unusable baseline
  inconclusive = 6,  // gate inconclusive with --strict-gate
  interrupted = 130,
  terminated = 143,
};

class UserError : public std::runtime_error {
 public:
  UserError(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// A bad flag, environment variable or configuration key: exit code 2.
class UsageError : public UserError {
 public:
  explicit UsageError(const std::string& message) : UserError(ExitCode::usage, message) {}
};

// A file that is missing, truncated, malformed or cannot be written: exit code 5.
class FileError : public UserError {
 public:
  explicit FileError(const std::string& message) : UserError(ExitCode::file, message) {}
};

// No usable device: exit code 4.
class DeviceError : public UserError {
 public:
  explicit DeviceError(const std::string& message) : UserError(ExitCode::nothing_ran, message) {}
};

}  // namespace precbench
