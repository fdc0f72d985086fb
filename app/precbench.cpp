#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "cli/root.h"
#include "common/errors.h"

int main(int argc, char** argv) {
  using precbench::ExitCode;
  try {
    return precbench::cli::run_command_line(argc, argv);
  } catch (const precbench::UserError& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::nothing_ran);
  }
}
