// What is printed and written when all runs are over.
#pragma once

#include "bench/plan/plan.h"
#include "bench/result/document.h"
#include "bench/run/console.h"

namespace precbench {

// Blocks as runs finish: with --format text and report.
bool prints_blocks(const OutputPlan& output);

// The rest of standard output: the table and summary of `text` (its blocks are out by then), or the
// whole document in the other formats.
void print_ending(const OutputPlan& output, const ResultDocument& document, Console& console);

// --export-*. A file that cannot be written is told and costs the others nothing; returns whether
// all were written.
bool write_exports(const OutputPlan& output, const ResultDocument& document, Console& console);

// Annotations on stderr inside GitHub Actions, and the job's summary where GITHUB_STEP_SUMMARY
// names its file. Returns whether it could be written; if not, the reason was told.
bool tell_github(const ResultDocument& document, Console& console);

}  // namespace precbench
