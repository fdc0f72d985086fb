#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "bench/plan/launch.h"
#include "bench/plan/make_plan.h"
#include "bench/plan/resolver.h"
#include "bench/run/console.h"
#include "bench/run/dry_run.h"
#include "bench/run/max_batch.h"
#include "bench/run/session.h"
#include "cli/commands.h"
#include "cli/plan_flags.h"
#include "common/errors.h"

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
  const auto environment = [](const char* name) -> const char* { return std::getenv(name); };
  const std::optional<Launch> launch = launch_from(environment);
  const ResolvedOptions options =
      resolve(launch ? with_devices(given, *launch) : given, environment);
  Plan plan = make_plan(options, std::move(argv));
  if (launch) join_launch(plan, *launch);
  const std::vector<std::string> misspelt = misspelt_variables(variable_names());
  plan.warnings.insert(plan.warnings.end(), misspelt.begin(), misspelt.end());
  if (!plan.dry_run) {
    if (plan.find_max_batch) return find_max_batches(std::move(plan));
    const int code = run_session(std::move(plan));
    // What became of the rows rank 0 says; a launcher would end the other ranks for a code of ours.
    const bool is_of_rows = code == static_cast<int>(ExitCode::partial) ||
                            code == static_cast<int>(ExitCode::nothing_ran);
    return launch && launch->rank > 0 && is_of_rows ? 0 : code;
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
