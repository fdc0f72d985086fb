// `run --baseline FILE`: the earlier result that this run is held against, with or without rules
// that decide.
#pragma once

#include <optional>
#include <vector>

#include "bench/judge/gate.h"
#include "bench/plan/plan.h"
#include "bench/run/console.h"

namespace precbench {

class Baseline {
 public:
  // Loads the plan's baseline, if it names one; a time rule raises the repeats unless they were
  // given. What the user should know goes to the console. Throws UsageError for a rule, FileError
  // for the file.
  Baseline(Plan& plan, Console& console);

  // Before the first run: another protocol makes all of it useless. Throws FileError naming what
  // differs.
  void require_protocol(const ResultDocument& current) const;

  // After the last run: marks another machine, fills the document's gate, and prints what was
  // decided. Nothing without rules.
  std::optional<ExitCode> judge(ResultDocument& current, Console& console) const;

 private:
  std::optional<ResultDocument> base_;
  std::vector<GateRule> rules_;
  bool strict_ = false;
};

}  // namespace precbench
