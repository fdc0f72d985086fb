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
#include "cli/plan_flags.h"

namespace precbench::cli {
namespace {

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
  const auto flags = std::make_shared<PlanFlags>();
  auto* command = root.add_subcommand("run", "train and compare (run is the default)");
  flags->add_to(root);
  flags->add_to(*command);
  action = [flags, argv = std::move(argv)] { return run(flags->given(), argv); };
}

}  // namespace precbench::cli
