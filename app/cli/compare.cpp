#include <cstdio>
#include <memory>

#include "bench/report/comparison_text.h"
#include "bench/report/escape.h"
#include "bench/report/github.h"
#include "bench/report/junit.h"
#include "bench/result/atomic_file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "common/json_text.h"

namespace precbench::cli {
namespace {

struct CompareOptions {
  std::string base, current;
  std::vector<std::string> fail_on;
  bool strict = false, force = false;
  std::string format = "text";
  std::string json_file, markdown_file, junit_file;
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
  return format == "none" ? "" : as_text(comparison, gate);
}

void export_all(const CompareOptions& options, const Comparison& comparison,
                const std::optional<GateResult>& gate) {
  const auto write = [](const std::string& path, const std::string& text) {
    if (!path.empty()) write_atomically(path, text);
  };
  write(options.json_file, as_json(comparison, gate));
  write(options.markdown_file, as_markdown(comparison, gate));
  if (gate) write(options.junit_file, junit_of_gate(*gate));
}

int run_compare(const CompareOptions& options) {
  if (options.fail_on.empty() && (options.strict || !options.junit_file.empty())) {
    throw UsageError(std::string(options.strict ? "--strict-gate" : "--export-junit") +
                     " needs a gate: add --fail-on time:5%");
  }
  const std::vector<GateRule> rules = parse_gate_rules(options.fail_on);
  const ResultDocument base = load_result(options.base);
  const ResultDocument current = load_result(options.current);
  const Comparison comparison = compare_results(base, current, {options.force});
  for (const std::string& warning : comparison.warnings) {
    tell_error("warning", warning);
  }
  std::optional<GateResult> gate;
  if (!rules.empty()) gate = evaluate_gate(base, current, rules, options.strict, options.force);
  write_stdout(rendered(options.format, comparison, gate));
  export_all(options, comparison, gate);
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

}  // namespace

void add_compare(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("compare", "two result files; with --fail-on it is a gate");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("BASE", options->base, "result file before the change")->required();
  command->add_option("NEW", options->current, "result file after it")->required();
  command
      ->add_option("--fail-on", options->fail_on,
                   "exit 1 on an established regression: time:5%, memory:2%, "
                   "test_accuracy:0.5pp, time[16-mixed]:10%; may be given several times")
      ->type_name("RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--strict-gate", options->strict, "exit 6 when the gate is inconclusive");
  command->add_flag("--force", options->force,
                    "compare other protocols and other machines all the same");
  command->add_option("--format", options->format, "what to print on standard output")
      ->check(CLI::IsMember({"text", "markdown", "json", "none"}))
      ->capture_default_str();
  command->add_option("--export-json", options->json_file, "write it as JSON into a file");
  command->add_option("--export-markdown", options->markdown_file, "write it as Markdown");
  command->add_option("--export-junit", options->junit_file, "write the gate as JUnit XML");
  command->callback([&action, options] { action = [options] { return run_compare(*options); }; });
}

}  // namespace precbench::cli
