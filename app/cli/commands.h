// One function per subcommand: it declares the subcommand's flags and, if the user chose it, sets
// the action that main runs. CLI11 appears in this folder only.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace precbench::cli {

using Action = std::function<int()>;  // returns the exit code; may throw UserError

// `run` is the default: its flags stand on the root and on the subcommand alike.
void add_run(CLI::App& root, Action& action, std::vector<std::string> argv);
void add_probe(CLI::App& root, Action& action);
void add_predict(CLI::App& root, Action& action);
void add_compare(CLI::App& root, Action& action);
void add_matrix(CLI::App& root, Action& action);
void add_merge(CLI::App& root, Action& action);
void add_scaling(CLI::App& root, Action& action);
void add_report(CLI::App& root, Action& action);
void add_list(CLI::App& root, Action& action);
void add_get(CLI::App& root, Action& action);
void add_init(CLI::App& root, Action& action);
void add_generate(CLI::App& root, Action& action);

}  // namespace precbench::cli
