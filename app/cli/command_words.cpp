#include "cli/command_words.h"

#include <algorithm>

#include "bench/plan/config_file.h"
#include "bench/plan/options.h"
#include "common/gpu_cards.h"
#include "common/modes.h"

namespace precbench::cli {
namespace {

bool hints_at_file(const std::string& hint) {
  return hint.find("FILE") != std::string::npos || hint.find("DIR") != std::string::npos;
}

std::vector<std::string> values_of(const OptionSpec& option) {
  std::vector<std::string> values = option.allowed;
  if (option.name == "modes" || option.name == "reference") {
    for (const ModeTraits& mode : kModes) values.emplace_back(mode.name);
  }
  if (option.name == "modes") values.insert(values.end(), {"all", "native"});
  if (option.name == "device") values = {"auto", "cpu", "cuda"};
  if (option.name == "config") {
    for (const ConfigFile& config : list_configs()) values.push_back(config.name);
  }
  return values;
}

Word word_of(const OptionSpec& option) {
  return {option.name,
          option.short_name,
          option.help,
          option.hint,
          values_of(option),
          option.type == OptionType::flag,
          option.type == OptionType::list,
          option.takes_file || hints_at_file(option.hint)};
}

// "TEXT:{a,b}" and "a | b" are a and b.
std::vector<std::string> words_between(std::string text, char separator) {
  std::vector<std::string> words;
  std::erase(text, ' ');
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Of an option that stands in no table: what CLI11 knows of it.
Word word_of(const CLI::Option& option) {
  Word word;
  if (!option.get_lnames().empty()) word.name = option.get_lnames().front();
  word.help = option.get_description();
  word.hint = option.get_positional() ? option.get_name() : "VALUE";
  word.is_flag = option.get_type_size() == 0;
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  if (open != std::string::npos) {
    word.values = words_between(type.substr(open + 1, type.find('}') - open - 1), ',');
  } else if (word.help.find(" | ") != std::string::npos) {
    word.values = words_between(word.help, '|');
  } else if (word.name == "gpu") {
    word.values = gpu_card_ids();
    word.is_list = true;
  }
  word.takes_file = word.values.empty() && !word.is_flag && word.name != "from" &&
                    (word.name.empty() || word.name.starts_with("export"));
  return word;
}

}  // namespace

std::vector<Command> commands_of(const CLI::App& root) {
  std::vector<Command> commands;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; })) {
    Command command{app->get_name(), app->get_description(), {}};
    for (const CLI::Option* option : app->get_options()) {
      const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
      const bool is_run = command.name == "run" || command.name == "predict";
      const OptionSpec* known = find_option(name);
      if (known != nullptr && known->is_hidden) continue;
      const OptionSpec* row = is_run ? known : nullptr;
      command.words.push_back(row == nullptr ? word_of(*option) : word_of(*row));
    }
    if (command.name == "run") {
      command.words.push_back({"help", "h", "print the usual options", "", {}, true});
      command.words.push_back({"help-all", "", "print every option", "", {}, true});
      command.words.push_back({"version", "", "print the version", "", {}, true});
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace precbench::cli
