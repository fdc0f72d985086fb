// A comparison of two results, and a gate's verdicts, as people read them.
#pragma once

#include <string>

#include "bench/judge/comparison.h"
#include "bench/judge/gate.h"
#include "bench/report/formats.h"

namespace precbench {

// A table of every metric with verdict and reason, then modes that only one side has.
std::string comparison_text(const Comparison& comparison, const RenderOptions& options);
std::string comparison_markdown(const Comparison& comparison);

// "gate: failed", then one line per verdict.
std::string gate_text(const GateResult& gate, const RenderOptions& options);
std::string gate_markdown(const GateResult& gate);

}  // namespace precbench
