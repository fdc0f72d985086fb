#include <cstdlib>
#include <memory>

#include "bench/plan/make_plan.h"
#include "bench/plan/resolver.h"
#include "bench/run/dry_run.h"
#include "bench/run/session.h"
#include "cli/commands.h"

namespace precbench::cli {
namespace {

std::string flag_text(const OptionSpec& option) {
  return (option.short_name.empty() ? "" : "-" + option.short_name + ",") + "--" + option.name;
}

// CLI11 only collects texts; the resolver gives them meaning, so that every source is treated
// alike.
void declare_options(CLI::App& command, const std::shared_ptr<GivenFlags>& given) {
  for (const OptionSpec& option : option_table()) {
    const std::string name = option.name;
    if (option.type == OptionType::flag) {
      command.add_flag_callback(
          flag_text(option), [given, name] { (*given)[name] = {"true"}; }, option.help);
      continue;
    }
    const auto collect = [given, name](const CLI::results_t& texts) {
      (*given)[name] = texts;
      return true;
    };
    command.add_option(flag_text(option), collect, option.help)
        ->type_size(1)
        ->expected(1, 1000)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  }
}

int run(const GivenFlags& given, std::vector<std::string> argv) {
  const ResolvedOptions options =
      resolve(given, [](const char* name) -> const char* { return std::getenv(name); });
  Plan plan = make_plan(options, std::move(argv));
  return plan.dry_run ? print_dry_run(plan) : run_session(std::move(plan));
}

}  // namespace

void add_run(CLI::App& root, Action& action, std::vector<std::string> argv) {
  const auto given = std::make_shared<GivenFlags>();
  auto* command = root.add_subcommand("run", "train and compare (run is the default)");
  declare_options(root, given);
  declare_options(*command, given);
  root.set_help_flag();  // help is printed before the line is parsed
  command->set_help_flag();
  action = [given, argv = std::move(argv)] { return run(*given, argv); };
}

}  // namespace precbench::cli
