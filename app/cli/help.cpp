#include "cli/help.h"

#include <fmt/format.h>

#include "bench/files/standard_streams.h"
#include "bench/plan/options.h"

namespace precbench::cli {
namespace {

constexpr size_t kHelpColumn = 30;

std::string option_line(const OptionSpec& option) {
  std::string flag = "--" + option.name;
  if (!option.short_name.empty()) flag = "-" + option.short_name + ", " + flag;
  // A long list of choices would push the help text off the screen; --help-all names them behind
  // it.
  const std::string& hint = option.hint;
  const bool is_long = flag.size() + hint.size() + 4 > kHelpColumn;
  std::string help = option.help;
  if (is_long && option.type == OptionType::choice) help += ": " + hint;
  if (!is_long && !hint.empty()) flag += " " + hint;
  if (!option.default_text.empty() && option.type != OptionType::flag)
    help += " [" + option.default_text + "]";
  return fmt::format("  {:<{}} {}\n", flag, kHelpColumn - 3, help);
}

void print_options(bool all) {
  std::string group;
  for (const OptionSpec& option : option_table()) {
    if (option.is_hidden || !(all || option.is_basic)) continue;
    if (all && option.group != group) {
      group = option.group;
      write_stdout(fmt::format("\n{}:\n", group));
    }
    write_stdout(option_line(option));
  }
}

}  // namespace

int print_help(bool all) {
  write_stdout(fmt::format(
      "precbench: which precision should I train in, on this hardware?\n"
      "{}\n"
      "\n"
      "  precbench [run] [options]      train and compare (run is the default)\n"
      "  precbench probe                what this machine does natively\n"
      "  precbench predict --gpu NAME   memory of a training step on a GPU that is not here\n"
      "  precbench compare BASE NEW     two result files, or --run two builds; --fail-on: a gate\n"
      "  precbench matrix FILE...       many machines' results side by side\n"
      "  precbench scaling FILE...      one comparison on several numbers of devices\n"
      "  precbench report FILE...       render a saved result again\n"
      "  precbench list WHAT            modes | models | datasets | devices | configs\n"
      "  precbench get NAME             fetch a data set to where it is looked for\n",
      kAbout));
  if (!all) write_stdout("\noptions of run (all of them: --help-all):\n");
  print_options(all);
  write_stdout(fmt::format("\nexamples:\n{}", kExamples));
  if (all) write_stdout(fmt::format("\n{}\nexit codes: {}", kVariables, kExitCodes));
  return 0;
}

}  // namespace precbench::cli
