// The help texts of `run`, made from the option table.
#pragma once

#include <string_view>

namespace precbench::cli {

// At most 15 options and three examples, or every option. Returns the exit code.
int print_help(bool all);

// Parts that the manual page has as well.
inline constexpr std::string_view kAbout =
    "Trains the same seeded model in each precision mode of Lightning Fabric and compares "
    "accuracy, time and memory.";
inline constexpr std::string_view kExamples =
    "  precbench --modes 16-mixed,bf16-mixed,32-true --seed 42\n"
    "  precbench --config quick --modes all\n"
    "  precbench --format json | jq '.modes[] | {mode, status}'\n";
inline constexpr std::string_view kVariables =
    "Every option is also a variable (PRECBENCH_BATCH_SIZE) and a key of configuration files "
    "(batch_size).\n"
    "PRECBENCH_LIBTORCH names another LibTorch for the worker, PRECBENCH_PYTHON the Python whose "
    "torch\nis taken, PRECBENCH_WORKER another worker.\n";
inline constexpr std::string_view kExitCodes =
    "0 done, 1 gate failed, 2 bad option, 3 some modes failed, 4 nothing succeeded,\n"
    "            5 a file, 6 gate inconclusive (--strict-gate), 130/143 interrupted\n";

}  // namespace precbench::cli
