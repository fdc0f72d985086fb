// What judge() is made of: one judge for each kind of figure. All of them get a result whose
// metric, base and current are filled, and fill the rest.
#pragma once

#include <string>
#include <vector>

#include "bench/judge/judge.h"

namespace precbench {

// Shares of a byte or of the last digit do not decide at the limit itself.
constexpr double kRounding = 1e-9;

inline void conclude(MetricComparison& result, Verdict verdict, const std::string& why) {
  result.verdict = verdict;
  result.why = why;
}

// A change in the metric's bad direction, as the logarithm of a factor: 0.095 is 10 % slower, and
// its negative as much faster, so that swapping the sides swaps the verdict. `limit` stands as it
// was written: a throughput falls by it, a time rises by it.
double loss_of_limit(const MetricTraits& metric, double limit);

// The change (0.1 = 10 % more) that such a loss is.
double change_of_loss(const MetricTraits& metric, double loss);

bool reaches(double loss, double bound);
Verdict direction(double loss);

struct TimeCase {
  MetricComparison* result;
  const ModePair* pair;
};
void judge_times(const std::vector<TimeCase>& cases, const MetricTraits& metric,
                 const JudgeOptions& options);

// Counted, not sampled: one run decides. Where the repeats differ all the same, their ranges must
// not overlap.
void judge_memory(MetricComparison& result, double limit);

// Seed by seed where both sides have the same seeds; else by the means of all.
void judge_accuracy(MetricComparison& result, const ModePair& pair, const DataSizes& sizes);

}  // namespace precbench
