// What GitHub Actions shows of a run: annotations on the job and a summary page.
#pragma once

#include <string>
#include <vector>

#include "bench/judge/gate.h"

namespace precbench {

// Whether this process runs in a GitHub Actions job.
bool in_github_actions();

// Workflow commands (::error, ::warning, ::notice), one line per verdict that did not pass. For
// stderr: the runner reads both streams.
std::vector<std::string> gate_annotations(const GateResult& gate);

// One ::error line for each failed mode of a result, ::warning for each emulated one.
std::vector<std::string> result_annotations(const ResultDocument& document);

// Appends Markdown to the file that GITHUB_STEP_SUMMARY names; does nothing without it. Throws
// FileError.
void append_job_summary(const std::string& markdown);

}  // namespace precbench
