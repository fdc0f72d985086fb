// The modes of one file beside its reference, and what stands against their times.
#pragma once

#include <optional>
#include <vector>

#include "bench/judge/judge.h"

namespace precbench {

// The first mark that stands against this mode's times (kMarks), or null.
const Mark* mark_against_time(const ModeRecord& mode);

// One mode beside the reference of its own file.
struct Standing {
  const ModeRecord* mode = nullptr;
  MetricComparison speed;  // by speed_metric; of total times where a side knows none
  MetricComparison memory, accuracy;
  // Total times' ratio where it differs by over 10 % from that of the step times.
  std::optional<double> total_ratio;
};

// Whether each mode trained at a batch of its own (--batch-size max).
bool has_own_batches(const ResultDocument& document);

// What "speed" is the ratio of: median step times, or the time of a sample where batches differ.
const MetricTraits& speed_metric(const ResultDocument& document);

// Of every mode but the reference, in the document's order.
std::vector<Standing> standings(const ResultDocument& document, const ModeRecord& reference);

}  // namespace precbench
