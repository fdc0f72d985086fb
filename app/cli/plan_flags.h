// The option table's flags on a subcommand: what `run` and `predict` share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/plan/resolver.h"

namespace precbench::cli {

// CLI11 only collects texts; the resolver gives them meaning, so that every source is treated
// alike. A flag may say false (--nesterov=false), to undo what a configuration says.
class PlanFlags {
 public:
  // May be called for several commands: what was given on any of them counts. Flags that a command
  // has already stay its own. `names`: these alone.
  void add_to(CLI::App& command, const std::vector<std::string_view>& names = {});
  GivenFlags given() const;

 private:
  std::vector<std::pair<std::string, const CLI::Option*>> declared_;
};

}  // namespace precbench::cli
