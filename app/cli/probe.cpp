#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "bench/platform/cpu_count.h"
#include "bench/probe/probe_machine.h"
#include "bench/probe/probe_text.h"
#include "bench/worker/worker_runner.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "common/json_text.h"

namespace precbench::cli {
namespace {

struct ProbeOptions {
  ProbeRequest request;
  std::string format = "text";
};

int run_probe(const ProbeOptions& options) {
  WorkerRunner runner(worker_command_from_environment(), nullptr);
  const json document = probe_machine(options.request, runner);
  for (const json& note : document.at("notes")) {
    std::fputs((printable(note.get<std::string>()) + "\n").c_str(), stderr);
  }
  if (options.format == "json") {
    write_stdout(json_text(document) + "\n");
    return 0;
  }
  write_stdout(probe_text(document, stdout_options()));
  if (document.at("from_cache").get<bool>()) {
    std::fputs("these figures were kept from an earlier probe; --fresh measures again\n", stderr);
  }
  return 0;
}

}  // namespace

void add_probe(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("probe", "what this machine does natively, and how fast");
  auto options = std::make_shared<ProbeOptions>();
  options->request.threads = usable_cores();
  command->add_option("--device", options->request.device, "auto | cpu | cuda | cuda:N")
      ->capture_default_str();
  command->add_option("--threads", options->request.threads, "threads of a CPU's figures")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_flag("--fresh", options->request.fresh, "measure although figures were kept");
  command->add_option("--format", options->format, "text | json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([&action, options] { action = [options] { return run_probe(*options); }; });
}

}  // namespace precbench::cli
