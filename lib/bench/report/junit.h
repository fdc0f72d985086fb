// JUnit XML for CI systems that show test results: one test case per mode, and one per verdict of a
// gate.
#pragma once

#include <string>

#include "bench/judge/gate.h"

namespace precbench {

// A failed mode is a <failure>, an unsupported or skipped one <skipped>. The document's `gate`, if
// there is one, is a second suite as below.
std::string junit_of_result(const ResultDocument& document);

// A failed verdict is a <failure>, an inconclusive one <skipped>.
std::string junit_of_gate(const GateResult& gate);

}  // namespace precbench
