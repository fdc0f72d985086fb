#include <cstdlib>
#include <memory>

#include "bench/plan/make_plan.h"
#include "bench/plan/parse_value.h"
#include "bench/predict/prediction.h"
#include "bench/run/console.h"
#include "bench/run/worker_runner.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/plan_flags.h"
#include "common/errors.h"
#include "common/gpu_cards.h"
#include "common/suggest.h"

namespace precbench::cli {
namespace {

int run_predict(const GivenFlags& given, const std::string& gpus) {
  if (gpus.empty()) {
    throw UsageError("predict needs to know the card: --gpu t4\n       GPUs: " +
                     joined(gpu_card_ids()));
  }
  const ResolvedOptions options =
      resolve(given, [](const char* name) -> const char* { return std::getenv(name); });
  const Plan plan = make_plan(options, {});
  const PredictRequest request{split_list(gpus), plan.find_max_batch};
  Console console(plan.output);
  for (const std::string& warning : plan.warnings) console.warning(warning);
  console.info(plan.title);
  WorkerRunner runner(worker_command_from_environment(),
                      [&](std::string_view line) { console.detail(line); });
  const json prediction = predict(plan, request, runner);
  write_stdout(render_prediction(prediction, plan.output.format));
  return static_cast<int>(outcome_of_prediction(prediction));
}

}  // namespace

void add_predict(CLI::App& root, Action& action) {
  auto* command =
      root.add_subcommand("predict", "memory of a training step on a GPU that is not here");
  const auto gpus = std::make_shared<std::string>();
  const auto flags = std::make_shared<PlanFlags>();
  command->add_option("--gpu", *gpus, "cards, comma-separated: " + joined(gpu_card_ids()));
  flags->add_to(*command);
  command->callback([&action, gpus, flags] {
    action = [gpus, flags] { return run_predict(flags->given(), *gpus); };
  });
}

}  // namespace precbench::cli
