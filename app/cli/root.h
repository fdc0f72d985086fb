// The command line as a whole: subcommands, help, version, and errors in our own words.
#pragma once

namespace precbench::cli {

// Returns the process's exit code. Throws UserError.
int run_command_line(int argc, char** argv);

}  // namespace precbench::cli
