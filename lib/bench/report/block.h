// The block that is printed for each run as it finishes, in the form of the published article:
//
//   ===== 16-mixed =====
//   Seed set to 42
//   Train Acc: 38.87%
//   Test Acc : 46.15%
//   Time     : 987.84s
//   Memory   : 5603.31 MB
//
// "MB" is the article's word; it means 2^20 bytes there too. A run that failed says what happened
// instead. No blank line before or after; ends with a line end.
#pragma once

#include <string>

#include "bench/result/document.h"

namespace precbench {

// `published_form`: the heading is the mode alone, as above; otherwise it also tells the seed's
// repeat and the role of a drift run, so that the blocks of many runs can be told apart.
std::string render_block(const std::string& mode, int64_t seed, const RunRecord& run,
                         bool published_form);

// For a mode that was not run at all (unsupported, skipped).
std::string render_block(const ModeRecord& mode);

// All blocks of a document in the order in which the runs were made, a blank line between two.
std::string render_blocks(const ResultDocument& document);

}  // namespace precbench
