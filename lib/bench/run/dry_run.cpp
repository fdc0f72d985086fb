#include "bench/run/dry_run.h"

#include <fmt/format.h>

#include "bench/files/standard_streams.h"
#include "bench/plan/schedule.h"
#include "bench/platform/cpu.h"
#include "bench/platform/verdict.h"
#include "common/json_text.h"
#include "common/printable.h"

namespace precbench {

namespace {

// Of the CPU, which needs no worker to be looked at; what GPUs there are the worker tells.
std::string verdicts_of(const Plan& plan) {
  if (plan.device != "cpu" && plan.device != "auto") return "";
  std::string text = plan.device == "cpu" ? "\n" : "\non the CPU, where there is no GPU:\n";
  DeviceFacts facts;
  facts.cpu = read_cpu_facts();
  for (const ModeTraits* mode : plan.modes) {
    const Support support = verdict(*mode, facts);
    text += fmt::format("      {:<26} {}{}\n", mode->name, name_of(support.verdict),
                        support.why.empty() ? "" : " (" + support.why + ")");
  }
  return text;
}

}  // namespace

int print_dry_run(const Plan& plan) {
  std::string text = printable(plan.title) + "\n\n";
  for (const RunSlot& slot : own_slots(plan, schedule(plan, rows_of(plan)))) {
    text +=
        fmt::format("{:>4}  {:<26} seed {}  repeat {}{}\n", slot.order_index + 1, slot.row.name(),
                    slot.seed, slot.repeat + 1, slot.role == Role::drift ? "  (drift)" : "");
  }
  text += verdicts_of(plan) + "\n";
  for (const auto& [key, entry] : plan.config.items()) {
    const auto source = entry["source"].get<std::string>();
    if (source == "default") continue;
    text += fmt::format("{} = {}  ({})\n", key, json_text(entry["value"], -1), source);
  }
  text += fmt::format("reference {}, {} threads, results in {}\n", reference_row(plan).name(),
                      plan.threads, plan.save ? printable(plan.results_dir) : "no file");
  write_stdout(text);
  return 0;
}

}  // namespace precbench
