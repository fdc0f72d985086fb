// The one judge: a metric of modes on two sides is better, worse, the same, or not to be told.
// Asked by `compare`, the gate, the table, the recommendation and the matrix. docs/statistics.md
// says how often it is wrong, from a simulation that is part of the tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/measured.h"

namespace precbench {

enum class Verdict { better, worse, same, inconclusive };

std::string_view name_of(Verdict verdict);

// What counts as a change: a fraction of the base value, or for accuracies of 1 ("0.5pp" is 0.005).
// Times must also be established.
inline constexpr double kTimeLimit = 0.05;
// Memory is counted, every byte is real; this is what is worth a word.
inline constexpr double kMemoryLimit = 0.02;
// Half a point: about what one epoch of Fashion-MNIST moves between seeds.
inline constexpr double kAccuracyLimit = 0.005;

double default_limit(const MetricTraits& metric);

// Two runs with 5 % noise each (the upper end of what is seen within one job on a shared machine)
// differ by this factor less than twice in a thousand comparisons. It decides for single runs, and
// more runs do not take back what one would have shown.
inline constexpr double kSingleRunTimeFactor = 1.25;

// Accuracy of one seed: rounding order alone moves it by up to 1.5 points (a small CNN trained for
// one epoch with the same seed under another memory layout).
inline constexpr double kOneSeedAccuracy = 0.02;

// The least difference of two accuracies p and q (fractions) that decides whatever the spread: two
// points, or what the choice of the samples explains where that is more (stats/accuracy.h).
double one_seed_bound(double p, double q, const std::optional<int64_t>& samples);

// The least change (0.25 = 25 %) that single runs decide under a rule with this limit.
double single_run_bound(const MetricTraits& metric, double limit);

struct MetricComparison {
  const MetricTraits* metric = nullptr;
  std::optional<Estimate> base, current;
  std::optional<double> change;  // relative (0.1 = 10 % more), for accuracies absolute
  std::optional<double> error;   // of the ratio, propagated from both spreads; not of accuracies
  std::optional<Interval> interval;  // of change
  int64_t seeds = 0;                 // of accuracies: the fewer of both sides
  bool is_single = false;            // no spread is known: one run, or one seed, on a side
  bool is_refused = false;           // a mark forbids a verdict
  // What is left of the change in the worst case that marks allow; nothing without such a mark.
  std::optional<double> least_change;
  Verdict verdict = Verdict::inconclusive;
  std::string why;  // a fragment: "one run on a side: under 25 % nothing can be told"
};

struct ModePair {
  const ModeRecord* base;
  const ModeRecord* current;
  double limit;  // >= 0, in the unit of default_limit
};

struct JudgeOptions {
  bool other_machine_counts = true;  // the mark other-machine forbids times and memory
  bool is_interleaved = false;       // the sides ran in turn: times are paired by seed and repeat
  DataSizes sizes;                   // how many samples an accuracy is a share of
};

// One verdict per pair, all at once: the spread of times is pooled over the pairs, and how many
// were asked counts (Holm). Marks that forbid a verdict make it inconclusive unless it survives the
// worst that they allow.
std::vector<MetricComparison> judge(const std::vector<ModePair>& pairs, const MetricTraits& metric,
                                    const JudgeOptions& options);

// The same for one pair.
MetricComparison judge(const ModePair& pair, const MetricTraits& metric,
                       const JudgeOptions& options = {});

// Whether `current` learned nothing where `base` did: at chance, and its test accuracy lies further
// down than one seed's noise.
bool lost_learning(const ModeRecord& base, const ModeRecord& current, const DataSizes& sizes);

}  // namespace precbench
