#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "bench/plan/make_plan.h"
#include "bench/plan/resolver.h"
#include "bench/run/console.h"
#include "bench/run/dry_run.h"
#include "bench/run/max_batch.h"
#include "bench/run/session.h"
#include "cli/commands.h"

namespace precbench::cli {
namespace {

std::string flag_text(const OptionSpec& option) {
  return (option.short_name.empty() ? "" : "-" + option.short_name + ",") + "--" + option.name;
}

// CLI11 only collects texts; the resolver gives them meaning, so that every source is treated
// alike. A flag may say false (--nesterov=false), to undo what a configuration says.
using Declared = std::vector<std::pair<std::string, const CLI::Option*>>;

void declare_options(CLI::App& command, Declared& declared) {
  for (const OptionSpec& option : option_table()) {
    if (option.type == OptionType::flag) {
      declared.emplace_back(option.name, command.add_flag(flag_text(option), option.help));
      continue;
    }
    auto* added = command.add_option(flag_text(option))
                      ->type_size(1)
                      ->expected(1)
                      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                      ->allow_extra_args(false);
    declared.emplace_back(option.name, added);
  }
}

GivenFlags given_flags(const Declared& declared) {
  GivenFlags given;
  for (const auto& [name, option] : declared) {
    if (option->count() == 0) continue;
    const CLI::results_t& texts = option->results();
    std::vector<std::string>& all = given[name];
    all.insert(all.end(), texts.begin(), texts.end());  // of the root and of `run`
    const bool is_flag = find_option(name)->type == OptionType::flag;
    if (is_flag) all = {texts.back()};  // -q -q is -q
  }
  return given;
}

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

int run(const GivenFlags& given, std::vector<std::string> argv) {
  const ResolvedOptions options =
      resolve(given, [](const char* name) -> const char* { return std::getenv(name); });
  Plan plan = make_plan(options, std::move(argv));
  const std::vector<std::string> misspelt = misspelt_variables(variable_names());
  plan.warnings.insert(plan.warnings.end(), misspelt.begin(), misspelt.end());
  if (!plan.dry_run) {
    return plan.find_max_batch ? find_max_batches(std::move(plan)) : run_session(std::move(plan));
  }
  Console console(plan.output);
  for (const std::string& warning : plan.warnings) console.warning(warning);
  return print_dry_run(plan);
}

}  // namespace

void add_run(CLI::App& root, Action& action, std::vector<std::string> argv) {
  const auto declared = std::make_shared<Declared>();
  auto* command = root.add_subcommand("run", "train and compare (run is the default)");
  declare_options(root, *declared);
  declare_options(*command, *declared);
  action = [declared, argv = std::move(argv)] { return run(given_flags(*declared), argv); };
}

}  // namespace precbench::cli
