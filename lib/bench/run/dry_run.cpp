#include "bench/run/dry_run.h"

#include <fmt/format.h>

#include <cstdio>

#include "bench/plan/schedule.h"
#include "common/printable.h"

namespace precbench {

int print_dry_run(const Plan& plan) {
  std::string text = plan.title + "\n\n";
  for (const RunSlot& slot : schedule(plan, plan.modes)) {
    text +=
        fmt::format("{:>4}  {:<26} seed {}  repeat {}{}\n", slot.order_index + 1, slot.mode->name,
                    slot.seed, slot.repeat + 1, slot.role == "drift" ? "  (drift)" : "");
  }
  text += "\n";
  for (const auto& [key, entry] : plan.config.items()) {
    const auto source = entry["source"].get<std::string>();
    if (source == "default") continue;
    text +=
        fmt::format("{} = {}  ({})\n", key,
                    entry["value"].dump(-1, ' ', false, json::error_handler_t::replace), source);
  }
  text += fmt::format("reference {}, {} threads, results in {}\n", plan.reference->name,
                      plan.threads, plan.save ? printable(plan.results_dir) : "no file");
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace precbench
