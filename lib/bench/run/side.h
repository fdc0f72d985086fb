// One side of `precbench compare --run`: a program of its own, with its environment and options.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace precbench {

// What is run for one of the two sides.
struct Side {
  std::vector<std::string> environment;  // "PRECBENCH_LIBTORCH=/opt/torch"
  std::string program;
  std::vector<std::string> arguments;
};

// Words as in a shell, with quotes: [VARIABLE=VALUE ...] PROGRAM [option ...]. PROGRAM is a
// precbench, a folder that holds one (bin/, scripts/), a folder of a LibTorch
// (lib/libtorch_cpu.so), or `this`: `self`, the one that runs. Throws UsageError.
Side parse_side(const std::string& text, const std::string& self);

// Exit code of the side's program with those arguments; 128 + the signal's number if one ended it.
// What it says on standard error is shown where wanted: the same warnings would come again every
// round. Throws UsageError when it cannot be started.
int exit_code_of(const Side& side, std::vector<std::string> arguments, bool is_heard);

// The side and its arguments as a line for a terminal.
std::string described(const Side& side, const std::vector<std::string>& arguments);

// While one exists, SIGINT and SIGTERM end the side that runs first; it saves nothing then.
class SignalsPassedOn {
 public:
  SignalsPassedOn();
  ~SignalsPassedOn();
  SignalsPassedOn(const SignalsPassedOn&) = delete;
  SignalsPassedOn& operator=(const SignalsPassedOn&) = delete;

  void took(int signal);  // the side alone got it
  std::optional<int> received() const;

 private:
  struct sigaction before_[2]{};
};

}  // namespace precbench
