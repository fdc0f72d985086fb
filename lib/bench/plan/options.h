// The option table: the one source of flags, PRECBENCH_* variables, configuration keys, help and
// docs/cli.md. The rows stand in option_table.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json_fields.h"

namespace precbench {

struct Plan;

enum class OptionType {
  flag,  // true or false; on the command line it takes no value
  text,
  choice,      // one of `allowed`
  list,        // texts separated by commas
  integers,    // whole numbers separated by commas
  integer,     // within [low, high]
  number,      // within [low, high]
  duration,    // 90s | 5m | 1.5h
  size,        // 500MiB | 1GiB
  repeatable,  // may stand several times
};

struct OptionSpec {
  std::string name;  // of the flag, without dashes
  OptionType type = OptionType::text;
  std::string default_text;  // as a user would write it; empty = none
  std::string group;         // what | training | how | control | output
  std::string help;
  std::string hint;       // what a value looks like, for help: "N", "FILE"; empty for a flag
  bool is_basic = false;  // in --help; all others in --help-all
  std::vector<std::string> allowed;  // words; of an integer: that may stand in its place
  double low = 0, high = 0;          // of integers and numbers
  bool takes_file = false;           // of a choice: the path of a file is allowed as well
  bool is_hidden = false;            // for tests; in no help and no configuration file
  std::string short_name;
  std::string twice;  // the flag that this one means where it stands twice (-vv)
  // Sets its member of the plan; nothing where make_plan does more than that.
  std::function<void(Plan& plan, const json& value)> set;
};

const std::vector<OptionSpec>& option_table();
const OptionSpec* find_option(std::string_view name);

// "batch_size" of "batch-size"; "PRECBENCH_BATCH_SIZE".
std::string config_key(const OptionSpec& option);
std::string environment_variable(const OptionSpec& option);

// Variables of ours that are no options: another LibTorch, another worker, the Python whose torch
// is taken.
inline constexpr std::string_view kReservedVariables[] = {"PRECBENCH_LIBTORCH", "PRECBENCH_WORKER",
                                                          "PRECBENCH_PYTHON"};

// Sentences about the names of variables that look like a misspelt option's
// (PRECBENCH_BATCHSIZE): they would be ignored in silence. Names of other programs say nothing.
std::vector<std::string> misspelt_variables(const std::vector<std::string>& names);

}  // namespace precbench
