// The help texts of `run`, made from the option table.
#pragma once

namespace precbench::cli {

// At most 15 options and three examples, or every option. Returns the exit code.
int print_help(bool all);

}  // namespace precbench::cli
