// One metric of one mode on two sides: better, worse, the same, or not to be told. Used by
// `compare` with the default limits and by the gate with each rule's own. docs/statistics.md shows
// how often it is wrong.
#pragma once

#include <optional>
#include <string>

#include "bench/result/measured.h"

namespace precbench {

enum class Verdict { better, worse, same, inconclusive };

std::string_view name_of(Verdict verdict);

// What counts as a change: a fraction of the base value, or for accuracies of 1 ("0.5pp" is 0.005).
// Times must also be established: the 95 % Welch interval of the ratio excludes 1.
inline constexpr double kTimeLimit = 0.05;
// Memory is counted, every byte is real; this is what is worth a word.
inline constexpr double kMemoryLimit = 0.02;
// Half a point: about what one epoch of Fashion-MNIST moves between seeds.
inline constexpr double kAccuracyLimit = 0.005;

double default_limit(const MetricTraits& metric);

struct MetricComparison {
  const MetricTraits* metric = nullptr;
  std::optional<Estimate> base, current;
  std::optional<double> change;      // relative (0.1 = 10 % more), for accuracies absolute
  std::optional<Interval> interval;  // of change
  Verdict verdict = Verdict::inconclusive;
  std::string why;  // a fragment: "one run on a side: under 25 % nothing can be told"
};

// `limit` >= 0 in the unit of default_limit. Marks that forbid a verdict (on either side) make it
// inconclusive, unless `force`. `sizes` tell how many samples an accuracy is a share of.
MetricComparison compare_metric(const ModeRecord& base, const ModeRecord& current,
                                const MetricTraits& metric, double limit, bool force = false,
                                const DataSizes& sizes = {});

}  // namespace precbench
