// `summary` and `relative` of the result file: derived from the runs, written for readers without a
// statistics library, recomputed whenever a file is loaded.
#pragma once

#include "bench/result/measured.h"

namespace precbench {

// {metric: {mean, std, min, max, n, low, high} | null, unknown}: low and high bound the 95 %
// interval of the mean.
json summary_json(const ModeRecord& mode);

// {metric: {ratio, error, low, high} | {difference, std, n, low, high} | null, unknown}. A ratio is
// this mode's mean over the reference's, so under 1 is faster for times; differences (accuracies)
// are paired by seed. Null for the reference itself and without one.
json relative_json(const ModeRecord& mode, const ModeRecord* reference);

}  // namespace precbench
