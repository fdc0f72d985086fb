#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

#include "bench/plan/launch.h"
#include "bench/plan/make_plan.h"
#include "bench/plan/parse_value.h"
#include "bench/plan/resolver.h"
#include "bench/platform/paths.h"
#include "bench/report/scaling.h"
#include "bench/run/console.h"
#include "bench/run/dry_run.h"
#include "bench/run/max_batch.h"
#include "bench/run/scaling.h"
#include "bench/run/session.h"
#include "cli/commands.h"
#include "cli/output.h"
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

// Numbers of "1,2,4", without repetition and in order; empty where there is one alone.
std::vector<int64_t> numbers_of_devices(const GivenFlags& given) {
  const auto devices = given.find("devices");
  if (devices == given.end() || devices->second.back().find(',') == std::string::npos) return {};
  std::set<int64_t> numbers;
  for (const std::string& text : CLI::detail::split(devices->second.back(), ',')) {
    const auto number = parse_integer(text);
    if (!number || *number < 1 || *number > kMostDevices) {
      throw UsageError(
          fmt::format("--devices: '{}' is no number from 1 to {}", text, kMostDevices));
    }
    numbers.insert(*number);
  }
  return {numbers.begin(), numbers.end()};
}

// What would be one file, or one answer, of several comparisons.
void refuse_for_each(const GivenFlags& given) {
  for (const auto& [name, texts] : given) {
    const std::string_view option = name;
    const bool is_for_one = option == "resume" || option == "baseline" || option == "dry-run" ||
                            option == "save-weights" || option == "dump-trace" ||
                            option == "shard" || option.starts_with("export-");
    if (!is_for_one) continue;
    throw UsageError("--" + name + " does not go with several numbers of devices: each is a " +
                     "comparison with a result file of its own");
  }
}

int run_scaling(GivenFlags given, const std::vector<int64_t>& numbers,
                const Environment& environment) {
  refuse_for_each(given);
  given["devices"] = {std::to_string(numbers.back())};
  const Plan plan = make_plan(resolve(given, environment), {});
  const std::string& format = plan.output.format;
  if (format != "text" && format != "markdown" && format != "json" && format != "none") {
    throw UsageError("--format " + format + " does not go with several numbers of devices\n" +
                     "       formats: text markdown json none");
  }
  std::vector<std::string> options;
  for (const auto& [name, texts] : given) {
    const bool is_set_for_each =
        name == "devices" || name == "batch-size" || name == "threads" || name == "format";
    for (const std::string& text : texts) {
      if (!is_set_for_each) options.push_back("--" + name + "=" + text);
    }
  }
  const ScalingRuns runs = run_on_each(numbers, plan, executable_dir() + "/precbench", options,
                                       [&](const std::string& line) {
                                         if (!plan.output.quiet)
                                           std::fprintf(stderr, "%s\n", line.c_str());
                                       });
  if (!runs.documents.empty()) {
    write_stdout(render_scaling(scaling_of(runs.documents), format, stdout_options()));
  }
  return runs.exit_code;
}

int run(const GivenFlags& given, std::vector<std::string> argv) {
  const auto environment = [](const char* name) -> const char* { return std::getenv(name); };
  const std::optional<Launch> launch = launch_from(environment);
  if (const auto numbers = numbers_of_devices(given); !launch && !numbers.empty()) {
    return run_scaling(given, numbers, environment);
  }
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
