#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bench/plan/make_plan.h"
#include "bench/plan/parse_value.h"
#include "bench/predict/prediction.h"
#include "bench/run/console.h"
#include "bench/run/logged_runner.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/plan_flags.h"
#include "common/errors.h"
#include "common/gpu_cards.h"
#include "common/printable.h"
#include "common/suggest.h"

namespace precbench::cli {
namespace {

// What the memory of a step depends on, and how to say it.
const std::vector<std::string_view> kOptions = {
    "modes",          "config",     "model",         "model-options",   "dataset",
    "data-dir",       "batch-size", "image-size",    "synthetic-shape", "synthetic-classes",
    "optimizer",      "momentum",   "nesterov",      "weight-decay",    "label-smoothing",
    "accumulate",     "clip-norm",  "clip-value",    "loss-autocast",   "init",
    "profile",        "tf32",       "deterministic", "optimizer-impl",  "memory-format",
    "attention",      "fp8-recipe", "fp8-margin",    "fp8-history",     "fp8-amax",
    "find-max-batch", "timeout",    "dry-run",       "format",          "color",
    "quiet",          "verbose",    "events",        "log-file"};

// "RTX 4090", "Tesla T4" and "T4" are the names on the box; ids are what is left without maker,
// family, case and separators.
std::string bare_name(std::string_view text) {
  std::string bare;
  for (const char c : text) {
    if (c == ' ' || c == '-' || c == '_') continue;
    bare += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (const std::string_view word : {"nvidia", "geforce", "tesla"}) {
    if (bare.starts_with(word)) bare.erase(0, word.size());
  }
  return bare;
}

std::string card_id(const std::string& given) {
  for (const GpuCard& card : kGpuCards) {
    if (bare_name(given) == card.id || bare_name(given) == bare_name(card.name))
      return std::string(card.id);
  }
  return given;
}

std::vector<std::string> card_ids(const std::string& gpus) {
  std::vector<std::string> ids;
  for (const std::string& given : split_list(gpus)) {
    const std::string id = card_id(given);
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  check_gpus(ids);
  return ids;
}

int run_predict(const GivenFlags& given, const std::string& gpus) {
  if (gpus.empty()) {
    throw UsageError("predict needs to know the card: --gpu t4\n       GPUs: " +
                     joined(gpu_card_ids()));
  }
  const ResolvedOptions options =
      resolve(given, [](const char* name) -> const char* { return std::getenv(name); });
  const Plan plan = make_plan(options, {});
  if (plan.own_batches) {
    throw UsageError("--batch-size max is an option of run: predict has --find-max-batch");
  }
  const PredictRequest request{card_ids(gpus), plan.find_max_batch};
  check_prediction_format(plan.output.format);
  Console console(plan.output);
  for (const std::string& warning : plan.warnings) console.warning(warning);
  if (plan.dry_run) {
    std::vector<std::string> modes;
    for (const ModeTraits* mode : plan.modes) modes.emplace_back(mode->name);
    write_stdout(printable(plan.title) + "\nGPUs: " + joined(request.gpus) +
                 "\nmodes: " + joined(modes) + "\n");
    return static_cast<int>(ExitCode::ok);
  }
  console.info(plan.title);
  LoggedRunner runner(console);
  const json prediction = predict(plan, request, runner);
  write_stdout(
      render_prediction(prediction, plan.output.format, stdout_options(plan.output.color)));
  return static_cast<int>(outcome_of_prediction(prediction));
}

}  // namespace

void add_predict(CLI::App& root, Action& action) {
  auto* command =
      root.add_subcommand("predict", "memory of a training step on a GPU that is not here");
  const auto gpus = std::make_shared<std::string>();
  const auto flags = std::make_shared<PlanFlags>();
  command->add_option("--gpu", *gpus, "cards, comma-separated: " + joined(gpu_card_ids()));
  flags->add_to(*command, kOptions);
  command->callback([&action, gpus, flags] {
    action = [gpus, flags] { return run_predict(flags->given(), *gpus); };
  });
}

}  // namespace precbench::cli
