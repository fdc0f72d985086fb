// What a command line of precbench is made of, from the commands and the option table: for shell
// completion and the manual page.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace precbench::cli {

// One flag, or with an empty `name` what may stand without one.
struct Word {
  std::string name, short_name, help, hint;
  std::vector<std::string> values;
  bool is_flag = false;     // takes no value
  bool is_list = false;     // values separated by commas
  bool takes_file = false;  // or a folder
};

struct Command {
  std::string name, about;
  std::vector<Word> words;
};

std::vector<Command> commands_of(const CLI::App& root);

}  // namespace precbench::cli
