#include "cli/root.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "bench/files/standard_streams.h"
#include "bench/plan/options.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "common/errors.h"
#include "common/suggest.h"
#include "common/version.h"

namespace precbench::cli {
namespace {

std::vector<std::string> subcommand_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> flag_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// "--seed: 1 required INT missing" -> "--seed needs a value: N"
std::string missing_value_message(const std::string& told) {
  const std::string flag = told.substr(0, told.find(':'));
  const size_t name = flag.find_first_not_of('-');
  const OptionSpec* option = name == std::string::npos ? nullptr : find_option(flag.substr(name));
  return flag + " needs a value" + (option == nullptr ? "" : ": " + option->hint);
}

// Words that people know from other trainers for what is an option here.
struct ForeignFlag {
  std::string_view name, ours;
};
constexpr ForeignFlag kForeignFlags[] = {{"--precision", "--modes"},
                                         {"--dtype", "--modes"},
                                         {"--amp", "--modes"},
                                         {"--learning-rate", "--lr"},
                                         {"--max-epochs", "--epochs"},
                                         {"--max-steps", "--steps"},
                                         {"--accelerator", "--device"},
                                         {"--num-threads", "--threads"},
                                         {"--output", "--export-json"},
                                         {"--accumulate-grad-batches", "--accumulate"},
                                         {"--gradient-clip-val", "--clip-norm"}};

std::optional<std::string> meant_flag(const std::string& flag, const CLI::App& command) {
  const std::vector<std::string> known = flag_names(command);
  for (const ForeignFlag& foreign : kForeignFlags) {
    const bool is_here = std::find(known.begin(), known.end(), foreign.ours) != known.end();
    if (foreign.name == flag && is_here) return std::string(foreign.ours);
  }
  return nearest(flag, known);
}

// "precbench compare BASE NEW [options]"
std::string usage_of(const CLI::App& command) {
  std::string usage = "precbench " + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    usage += " " + option->get_name();
    if (option->get_items_expected_max() > 1) usage += "...";
  }
  return usage + " [options]";
}

[[noreturn]] void refuse_word(const CLI::App& root, const CLI::App& command,
                              const std::string& word) {
  const bool is_root = &command == &root;
  if (word.rfind('-', 0) == 0) {
    const std::string flag = word.substr(0, word.find('='));
    const bool is_of_run = flag.starts_with("--") && find_option(flag.substr(2)) != nullptr;
    std::string message =
        is_of_run ? flag + " is an option of run; " + command.get_name() + " does not read it"
                  : "unknown option '" + flag + "'";
    if (const auto guess = is_of_run ? std::nullopt : meant_flag(flag, command))
      message += "; did you mean '" + *guess + "'?";
    const bool is_run = is_root || command.get_name() == "run";
    throw UsageError(message + (is_run
                                    ? "\n       precbench --help-all shows every option"
                                    : "\n       see precbench " + command.get_name() + " --help"));
  }
  if (!is_root) {
    throw UsageError("unexpected argument '" + word + "' after " + command.get_name() +
                     "\n       see precbench " + command.get_name() + " --help");
  }
  std::string message = "unknown command '" + word + "'";
  if (const auto guess = nearest(word, subcommand_names(root)))
    message += "; did you mean '" + *guess + "'?";
  throw UsageError(message + "\n       commands: " + joined(subcommand_names(root)));
}

// CLI11 tells what it could not place; we tell what it may have been.
[[noreturn]] void refuse(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = root.get_subcommands().empty() ? root : *root.get_subcommands().front();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> rest = command.remaining(true);
    refuse_word(root, command, rest.empty() ? "" : rest.front());
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    throw UsageError(missing_value_message(error.what()));
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && &command != &root)
    throw UsageError(std::string(error.what()) + "\n       usage: " + usage_of(command));
  throw UsageError(std::string(error.what()) + "\n       see precbench " +
                   (&command == &root ? "" : command.get_name() + " ") + "--help");
}

// CLI11 takes any word for the value that an option needs, so also the next option.
void refuse_options_as_values(int argc, char** argv) {
  const auto option_named = [](std::string_view word) -> const OptionSpec* {
    if (!word.starts_with("--")) return nullptr;
    return find_option(std::string(word.substr(2, word.find('=') - 2)));
  };
  for (int i = 1; i + 1 < argc; ++i) {
    const OptionSpec* option = option_named(argv[i]);
    if (option == nullptr || option->type == OptionType::flag) continue;
    if (std::strchr(argv[i], '=') != nullptr || option_named(argv[i + 1]) == nullptr) continue;
    throw UsageError("--" + option->name + " needs a value before " + argv[i + 1] + ": " +
                     option->hint);
  }
}

// The options of run stand on the root as well; before another command they would be ignored.
void refuse_run_options_before_other_commands(const CLI::App& root) {
  if (root.get_subcommands().empty()) return;
  const std::string command = root.get_subcommands().front()->get_name();
  if (command == "run") return;
  for (const CLI::Option* option : root.get_options()) {
    if (option->count() > 0)
      throw UsageError("--" + option->get_lnames().front() + " belongs to run, not to " + command +
                       "\n       options of " + command + " stand behind it");
  }
}

int print_version() {
  const auto sha = tool_git_sha();
  write_stdout("precbench " + tool_version() + " (" + (sha ? *sha : tool_git_sha_unknown_reason()) +
               ", " + tool_build_type() + ", " + tool_compiler() + ")\n");
  return 0;
}

// Help must not depend on the rest of the line being right.
bool has_argument(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") == 0) return false;
    if (argv[i] == name) return true;
  }
  return false;
}

// Every subcommand but `run` has flags of its own, and shows CLI11's help for them.
bool names_other_command(int argc, char** argv) {
  return argc > 1 && argv[1][0] != '-' && std::strcmp(argv[1], "run") != 0;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "version") return print_version();
  if (first == "help") {  // "help predict" is "predict --help"
    std::vector<char*> asked = {argv[0]};
    char help[] = "--help";
    if (argc > 2) asked.push_back(argv[2]);
    asked.push_back(help);
    return run_command_line(static_cast<int>(asked.size()), asked.data());
  }
  if (has_argument(argc, argv, "--version")) return print_version();
  if (!names_other_command(argc, argv)) {
    if (has_argument(argc, argv, "--help-all")) return print_help(true);
    if (has_argument(argc, argv, "--help") || has_argument(argc, argv, "-h"))
      return print_help(false);
    refuse_options_as_values(argc, argv);
  }
  CLI::App root("which precision should I train in, on this hardware?", "precbench");
  root.set_help_flag();  // help of run is printed above, whatever else the line says
  root.require_subcommand(0, 1);
  Action action;
  add_run(root, action, {argv, argv + argc});
  add_probe(root, action);
  add_predict(root, action);
  add_compare(root, action);
  add_matrix(root, action);
  add_merge(root, action);
  add_scaling(root, action);
  add_report(root, action);
  add_list(root, action);
  add_get(root, action);
  add_init(root, action);
  add_generate(root, action);
  // They inherit from the root, which has none.
  for (CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == "run") continue;
    command->set_help_flag("-h,--help", "print this help");
    for (CLI::App* inner : command->get_subcommands([](const CLI::App*) { return true; })) {
      inner->set_help_flag("-h,--help", "print this help");
    }
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return root.exit(help);
  } catch (const CLI::ParseError& error) {
    refuse(root, error);
  }
  refuse_run_options_before_other_commands(root);
  return action();
}

}  // namespace precbench::cli
