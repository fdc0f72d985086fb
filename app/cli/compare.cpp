#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bench/files/atomic_file.h"
#include "bench/plan/make_plan.h"
#include "bench/platform/paths.h"
#include "bench/report/comparison_text.h"
#include "bench/report/github.h"
#include "bench/report/junit.h"
#include "bench/run/interleave.h"
#include "bench/text/escape.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/plan_flags.h"
#include "common/json_text.h"

namespace precbench::cli {
namespace {

struct CompareOptions {
  std::string base, current;
  std::vector<std::string> sides;  // --run
  int64_t rounds = kGateRepeats;
  PlanFlags plan;  // options of run, with --run
  std::vector<std::string> fail_on;
  bool strict = false, force = false;
  std::string format = "text";
  ExportFlags exports;
};

std::string as_json(const Comparison& comparison, const std::optional<GateResult>& gate) {
  json document = to_json(comparison);
  document["gate"] = gate ? to_json(*gate) : json(nullptr);
  return json_text(document) + "\n";
}

std::string as_markdown(const Comparison& comparison, const std::optional<GateResult>& gate) {
  return (gate ? gate_markdown(*gate) + "\n" : "") + comparison_markdown(comparison);
}

std::string as_text(const Comparison& comparison, const std::optional<GateResult>& gate) {
  const RenderOptions options = stdout_options();
  return comparison_text(comparison, options) + (gate ? "\n" + gate_text(*gate, options) : "");
}

std::string rendered(const std::string& format, const Comparison& comparison,
                     const std::optional<GateResult>& gate) {
  if (format == "json") return as_json(comparison, gate);
  if (format == "markdown") return as_markdown(comparison, gate);
  if (format == "junit") return gate ? junit_of_gate(*gate) : "";
  return format == "none" ? "" : as_text(comparison, gate);
}

int judge_documents(const CompareOptions& options, const std::vector<GateRule>& rules,
                    const ResultDocument& base, const ResultDocument& current) {
  const std::vector<ExportFile> exports = options.exports.files(options.format);
  const Comparison comparison = compare_results(base, current, {options.force});
  for (const std::string& warning : comparison.warnings) {
    tell_error("warning", warning);
  }
  std::optional<GateResult> gate;
  if (!rules.empty()) gate = evaluate_gate(base, current, rules, options.strict, options.force);
  write_stdout(rendered(options.format, comparison, gate));
  for (const ExportFile& file : exports) {
    write_atomically(file.path, rendered(file.format, comparison, gate));
  }
  append_job_summary(as_markdown(comparison, gate));
  if (!gate) return static_cast<int>(ExitCode::ok);
  if (in_github_actions()) {
    for (const std::string& line : gate_annotations(*gate))
      std::fputs((line + "\n").c_str(), stderr);
  }
  if (gate->outcome == GateOutcome::inconclusive && !options.strict) {
    std::fputs("warning: the gate is inconclusive; it fails on that with --strict-gate\n", stderr);
  }
  return static_cast<int>(gate->exit_code);
}

// What one command cannot mean for two results that are made in turn.
void refuse_for_rounds(const GivenFlags& given) {
  for (const char* name :
       {"repeats", "resume", "baseline", "dry-run", "find-max-batch", "no-save"}) {
    if (given.count(name) == 0) continue;
    throw UsageError(std::string("--") + name + " does not go with compare --run" +
                     (std::string_view(name) == "repeats" ? ": use --rounds N" : ""));
  }
  for (const auto& [name, texts] : given) {
    if (name.starts_with("export-")) {
      throw UsageError("--" + name +
                       " does not go with compare --run: export the saved files with "
                       "precbench report");
    }
  }
}

InterleavePlan interleave_plan(const CompareOptions& options) {
  GivenFlags given = options.plan.given();
  refuse_for_rounds(given);
  const Plan plan =
      make_plan(resolve(given, [](const char* name) { return std::getenv(name); }), {});
  InterleavePlan result;
  const std::string self = executable_dir() + "/precbench";
  result.sides = {parse_side(options.sides[0], self), parse_side(options.sides[1], self)};
  const auto names_modes = [](const Side& side) {
    return std::any_of(side.arguments.begin(), side.arguments.end(),
                       [](const std::string& word) { return word.starts_with("--modes"); });
  };
  const bool may_split =
      !plan.native_modes_only && !names_modes(result.sides[0]) && !names_modes(result.sides[1]);
  if (may_split) {
    for (const ModeTraits* mode : plan.modes) result.modes.emplace_back(mode->name);
    given.erase("modes");
    given.erase("reference");
  }
  // Trial steps before every turn would only cost time.
  if (!plan.config.is_object() || plan.config.at("pilot").at("source") == "default") {
    given["pilot"] = {"0"};
  }
  given.erase("results-dir");
  for (const auto& [name, texts] : given) {
    for (const std::string& text : texts) result.options.push_back("--" + name + "=" + text);
  }
  result.reference = plan.reference->name;
  result.rounds = options.rounds;
  result.results_dir = plan.results_dir;
  return result;
}

int run_and_compare(const CompareOptions& options, const std::vector<GateRule>& rules) {
  const Interleaved done = interleave(interleave_plan(options), [](const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
  });
  if (done.signal) {
    return static_cast<int>(*done.signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted);
  }
  // As they were saved, so that comparing the files again says the same.
  return judge_documents(options, rules, load_result(done.files[0]), load_result(done.files[1]));
}

int run_compare(const CompareOptions& options) {
  if (options.fail_on.empty() && (options.strict || options.exports.has("junit"))) {
    throw UsageError(std::string(options.strict ? "--strict-gate" : "--export-junit") +
                     " needs a gate: add --fail-on time:5%");
  }
  const std::vector<GateRule> rules = parse_gate_rules(options.fail_on);
  options.exports.files(options.format);  // refuses before hours of runs
  if (!options.sides.empty()) {
    if (!options.base.empty()) {
      throw UsageError("compare --run takes two sides and no result files: '" + options.base + "'");
    }
    return run_and_compare(options, rules);
  }
  if (options.current.empty()) {
    throw UsageError(
        "compare needs two result files, or two sides to run\n"
        "       usage: precbench compare BASE NEW [options]\n"
        "              precbench compare --run BASE_BUILD HEAD_BUILD [options of run]");
  }
  if (const GivenFlags given = options.plan.given(); !given.empty()) {
    throw UsageError("--" + given.begin()->first +
                     " is an option of run: it goes with compare --run BASE_BUILD HEAD_BUILD");
  }
  return judge_documents(options, rules, load_result(options.base), load_result(options.current));
}

}  // namespace

void add_compare(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("compare", "two result files; with --fail-on it is a gate");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("BASE", options->base, "result file before the change");
  command->add_option("NEW", options->current, "result file after it");
  auto* sides =
      command
          ->add_option(
              "--run", options->sides,
              "instead of two files: measure two sides in turn (base, head, head, base, ...) and "
              "compare those. A side is a precbench or the folder of its build, the folder of a "
              "LibTorch, or words as in a shell: 'PRECBENCH_LIBTORCH=DIR this --gemm onednn' "
              "(this: this precbench). Options of run hold for both")
          ->type_name("BASE HEAD")
          ->expected(2);
  command->add_option("--rounds", options->rounds, "with --run: how often each side runs")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->needs(sides)
      ->capture_default_str();
  command
      ->add_option("--fail-on", options->fail_on,
                   "exit 1 on an established regression: time:5%, memory:2%, "
                   "test_accuracy:0.5pp, time[16-mixed]:10%; may be given several times")
      ->type_name("RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--strict-gate", options->strict, "exit 6 when the gate is inconclusive");
  command->add_flag("--force", options->force,
                    "compare other protocols and other machines all the same; marks on times stay");
  command->add_option("--format", options->format, "what to print on standard output")
      ->check(CLI::IsMember({"text", "markdown", "json", "none"}))
      ->capture_default_str();
  options->exports.add_to(*command, {"json", "markdown", "junit"});
  const size_t own = command->get_options().size();
  options->plan.add_to(*command);
  const std::vector<CLI::Option*> all = command->get_options();
  for (size_t i = own; i < all.size(); ++i) all[i]->group("");  // precbench --help-all lists them
  command->callback([&action, options] { action = [options] { return run_compare(*options); }; });
}

}  // namespace precbench::cli
