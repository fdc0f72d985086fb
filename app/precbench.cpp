#include <exception>
#include <string>

#include "bench/files/standard_streams.h"
#include "bench/run/console.h"
#include "cli/root.h"
#include "common/errors.h"

namespace precbench {
namespace {

ExitCode run_to_its_end(int argc, char** argv) {
  try {
    return static_cast<ExitCode>(cli::run_command_line(argc, argv));
  } catch (const UserError& error) {
    tell_error("error", error.what());
    return error.code();
  } catch (const std::exception& error) {
    tell_error("internal error", error.what());
    return ExitCode::nothing_ran;
  }
}

// A result that nobody could read is no success, whatever it says.
ExitCode after_the_output(ExitCode code) {
  const auto failure = stdout_failure();
  if (!failure) return code;
  tell_error("error", "cannot write to standard output: " + *failure);
  const bool weighs_more =
      code == ExitCode::usage || code == ExitCode::interrupted || code == ExitCode::terminated;
  return weighs_more ? code : ExitCode::file;
}

}  // namespace
}  // namespace precbench

int main(int argc, char** argv) {
  using namespace precbench;
  prepare_standard_streams();
  return static_cast<int>(after_the_output(run_to_its_end(argc, argv)));
}
