// `precbench generate bash|zsh|fish|man`: what the shells complete and what man shows, from the
// commands and the option table. The build writes them into share/, where the shells look.
#include <fmt/format.h>

#include <memory>

#include "bench/files/standard_streams.h"
#include "bench/plan/options.h"
#include "cli/command_words.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "common/errors.h"
#include "common/suggest.h"
#include "common/version.h"

namespace precbench::cli {
namespace {

template <typename... Values>
void emit(fmt::format_string<Values...> format, Values&&... values) {
  write_stdout(fmt::format(format, std::forward<Values>(values)...));
}

std::string command_names(const std::vector<Command>& commands, const char* separator) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return joined(names, separator);
}

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

void print_bash(const std::vector<Command>& commands) {
  emit(
      "# bash completion of precbench {}, made by `precbench generate bash`\n"
      "_precbench_words() {{ mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\"); }}\n"
      "_precbench_files() {{ compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$1\"); "
      "}}\n"
      "_precbench_list() {{\n"
      "  local before=\n"
      "  [[ $2 != *,* ]] || before=${{2%,*}},\n"
      "  compopt -o nospace\n"
      "  mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${{2##*,}}\")\n"
      "}}\n"
      "_precbench() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} "
      "command=run word\n"
      "  COMPREPLY=()\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD - 1}}\"; do\n"
      "    case $word in {}) command=$word; break ;; esac\n"
      "  done\n"
      "  case $command:$before in\n",
      tool_version(), command_names(commands, " | "));
  for (const Command& command : commands) {
    for (const Word& word : command.words) {
      if (word.name.empty() || word.is_flag) continue;
      const std::string values = joined(word.values, " ");
      const char* list = word.is_list ? "_precbench_list" : "_precbench_words";
      std::string action = ":";
      if (!word.values.empty()) action = fmt::format("{} '{}' \"$current\"", list, values);
      if (word.takes_file && word.values.empty()) action = "_precbench_files \"$current\"";
      if (word.takes_file && !word.values.empty()) {
        action = fmt::format(
            "_precbench_files \"$current\"; COMPREPLY+=($(compgen -W '{}' -- \"$current\"))",
            values);
      }
      emit("    {}:--{}) {}; return ;;\n", command.name, word.name, action);
    }
  }
  emit("  esac\n  case $command in\n");
  for (const Command& command : commands) {
    std::string flags;
    std::string rest;
    for (const Word& word : command.words) {
      if (!word.name.empty()) flags += "--" + word.name + " ";
      if (!word.name.empty()) continue;
      rest = word.takes_file
                 ? "_precbench_files \"$current\""
                 : fmt::format("_precbench_words '{}' \"$current\"", joined(word.values, " "));
    }
    if (command.name == "run")
      rest = fmt::format("_precbench_words '{}' \"$current\"", command_names(commands, " "));
    emit(
        "    {})\n"
        "      if [[ $current == -* ]]; then _precbench_words '{}' \"$current\"\n"
        "      else {}; fi ;;\n",
        command.name, flags, rest.empty() ? ":" : rest);
  }
  emit("  esac\n}}\ncomplete -F _precbench precbench\n");
}

// In zsh's _arguments these end a field.
std::string zsh_text(const std::string& text) {
  return replaced(replaced(replaced(replaced(text, ":", "\\:"), "[", "\\["), "]", "\\]"), "'",
                  "'\\''");
}

std::string zsh_action(const Word& word) {
  const std::string values = joined(word.values, " ");
  if (word.takes_file && !word.values.empty())
    return "{_alternative \"files\\:file\\:_files\" \"words\\:word\\:(" + values + ")\"}";
  if (word.takes_file) return "_files";
  if (word.is_list && !word.values.empty()) return "_values -s , value " + values;
  return word.values.empty() ? " " : "(" + values + ")";
}

void print_zsh(const std::vector<Command>& commands) {
  emit(
      "#compdef precbench\n"
      "# zsh completion of precbench {}, made by `precbench generate zsh`\n"
      "_precbench() {{\n"
      "  local command=run word\n"
      "  for word in ${{words[2,CURRENT-1]}}; do\n"
      "    case $word in {}) command=$word; break ;; esac\n"
      "  done\n"
      "  case $command in\n",
      tool_version(), command_names(commands, "|"));
  for (const Command& command : commands) {
    emit("    {})\n      _arguments -s \\\n", command.name);
    for (const Word& word : command.words) {
      const std::string value =
          word.is_flag ? "" : ":" + zsh_text(word.hint) + ":" + zsh_action(word);
      // The command itself is the first of the words that are no options.
      const std::string name = word.name.empty() ? "*" : "--" + word.name;
      const std::string help = word.name.empty() ? "" : "[" + zsh_text(word.help) + "]";
      emit("        '{}{}{}' \\\n", name, help, value);
    }
    if (command.name == "run") {
      std::string names;
      for (const Command& other : commands)
        names += " " + other.name + "\\:\"" + zsh_text(other.about) + "\"";
      emit("        '1:command:(({}))' \\\n", names.substr(1));
    }
    emit("        && return 0 ;;\n");
  }
  emit("  esac\n}}\n_precbench \"$@\"\n");
}

std::string fish_text(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

void print_fish(const std::vector<Command>& commands) {
  std::vector<std::string> others;
  for (const Command& command : commands) {
    if (command.name != "run") others.push_back(command.name);
  }
  emit(
      "# fish completion of precbench {}, made by `precbench generate fish`\n"
      "complete -c precbench -f\n",
      tool_version());
  for (const Command& command : commands) {
    emit("complete -c precbench -n __fish_use_subcommand -a {} -d {}\n", command.name,
         fish_text(command.about));
  }
  for (const Command& command : commands) {
    const std::string when = command.name == "run"
                                 ? "not __fish_seen_subcommand_from " + joined(others, " ")
                                 : "__fish_seen_subcommand_from " + command.name;
    for (const Word& word : command.words) {
      std::string line = "complete -c precbench -n '" + when + "'";
      if (!word.name.empty()) line += " -l " + word.name;
      if (!word.short_name.empty()) line += " -s " + word.short_name;
      if (!word.name.empty() && !word.is_flag) line += word.takes_file ? " -r -F" : " -x";
      if (word.name.empty() && word.takes_file) line += " -F";
      if (!word.values.empty()) line += " -a " + fish_text(joined(word.values, " "));
      if (!word.help.empty()) line += " -d " + fish_text(word.help);
      emit("{}\n", line);
    }
  }
}

// A line that begins with a dot or a quote would be a command to roff; a plain '-' becomes a
// hyphen.
std::string roff(const std::string& text) {
  std::string safe = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  if (safe.starts_with('.') || safe.starts_with('\'')) safe.insert(0, "\\&");
  return safe;
}

void print_man(const std::vector<Command>& commands) {
  emit(
      ".\\\" Made by `precbench generate man`.\n"
      ".TH PRECBENCH 1 \"\" \"precbench {}\" \"User Commands\"\n"
      ".SH NAME\nprecbench \\- which precision should I train in, on this hardware?\n"
      ".SH SYNOPSIS\n.B precbench\n[\\fIcommand\\fR] [\\fIoptions\\fR]\n"
      ".SH DESCRIPTION\n{}\n.SH COMMANDS\nWithout a command, \\fBrun\\fR.\n",
      tool_version(), roff(std::string(kAbout)));
  for (const Command& command : commands) {
    emit(".TP\n.B {}\n{}\n", command.name, roff(command.about));
  }
  std::string group;
  emit(".SH OPTIONS OF RUN\n");
  for (const OptionSpec& option : option_table()) {
    if (option.is_hidden) continue;
    if (option.group != group) emit(".SS {}\n", option.group);
    group = option.group;
    const std::string initial =
        option.short_name.empty() ? "" : "\\fB\\-" + option.short_name + "\\fR, ";
    const bool has_default = !option.default_text.empty() && option.type != OptionType::flag;
    emit(".TP\n{}\\fB\\-\\-{}\\fR \\fI{}\\fR\n{}{}\n", initial, roff(option.name),
         roff(option.hint), roff(option.help),
         has_default ? roff(" [" + option.default_text + "]") : "");
  }
  for (const Command& command : commands) {
    if (command.name == "run" || command.words.empty()) continue;
    emit(".SH OPTIONS OF {}\n", command.name);
    if (command.name == "predict") emit("Those of \\fBrun\\fR, and\n");
    for (const Word& word : command.words) {
      if (command.name == "predict" && word.name != "gpu") continue;
      const std::string name =
          word.name.empty() ? "\\fI" + word.hint + "\\fR" : "\\fB\\-\\-" + roff(word.name) + "\\fR";
      emit(".TP\n{}\n{}\n", name, roff(word.help));
    }
  }
  emit(".SH ENVIRONMENT\n{}\n", roff(std::string(kVariables)));
  emit(".SH EXIT STATUS\n{}\n", roff(replaced(std::string(kExitCodes), "  ", "")));
  emit(".SH EXAMPLES\n.nf\n{}.fi\n", roff(std::string(kExamples)));
}

struct Generated {
  const char* name;
  void (*print)(const std::vector<Command>& commands);
};
constexpr Generated kGenerated[] = {
    {"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}, {"man", print_man}};

}  // namespace

void add_generate(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("generate", "shell completion, or the manual page");
  const auto what = std::make_shared<std::string>();
  command->add_option("WHAT", *what, "bash | zsh | fish | man");
  command->callback([&action, &root, what] {
    action = [&root, what] {
      for (const Generated& generated : kGenerated) {
        if (*what == generated.name) {
          generated.print(commands_of(root));
          return 0;
        }
      }
      throw UsageError("cannot generate '" + *what + "'\n       allowed: bash zsh fish man");
    };
  });
}

}  // namespace precbench::cli
