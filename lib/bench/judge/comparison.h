// `precbench compare BASE NEW`: every metric of every mode that both have.
#pragma once

#include <string>
#include <vector>

#include "bench/judge/judge.h"

namespace precbench {

struct ModeComparison {
  std::string mode;
  Status base_status = Status::ok, current_status = Status::ok;
  std::string status_change;  // empty when both are ok: "ok before, now out of memory: ..."
  Verdict status_verdict = Verdict::same;
  std::vector<MetricComparison> metrics;  // of modes that are ok on both sides
};

struct Comparison {
  std::vector<ModeComparison> modes;
  std::vector<std::string> only_in_base, only_in_current;  // modes
  std::vector<std::string> warnings;                       // for stderr
};

struct ComparisonOptions {
  bool force =
      false;  // compare other protocols and other machines all the same; lifts no other mark
};

// Both documents with their marks, other-machine among them.
struct MarkedPair {
  ResultDocument base, current;
  JudgeOptions options;
};
MarkedPair marked_pair(ResultDocument base, ResultDocument current, bool force);

// Marks both documents first (assign_marks, other-machine). Throws FileError when the protocols
// differ (unless forced) or no mode is in both.
Comparison compare_results(ResultDocument earlier, ResultDocument later,
                           const ComparisonOptions& options = {});

json to_json(const Comparison& comparison);

}  // namespace precbench
