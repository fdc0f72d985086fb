// What a document allows one to say about a mode against the reference. The rules and their bounds
// are told to users in docs/statistics.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/measured.h"

namespace precbench {

// Single runs: two runs with 5 % noise each (the upper end of what is seen within one job on a
// shared machine) differ by this factor less than twice in a thousand comparisons.
inline constexpr double kSingleRunTimeFactor = 1.25;

// Repeated runs: a difference must be established (the 95 % interval of the ratio excludes 1) and
// of a size that matters to someone.
inline constexpr double kTimeFactor = 1.05;

// Memory is counted, not sampled: every byte is real. Less than this is not worth a word.
inline constexpr double kMemoryFactor = 1.02;

// Accuracy of one seed: rounding order alone moves it by up to 1.5 points (a small CNN trained for
// one epoch with the same seed under another memory layout).
inline constexpr double kOneSeedAccuracy = 0.02;

enum class Decision { undecided, better, worse };

struct SpeedVerdict {
  Ratio time;         // this mode's time over the reference's: under 1 is faster
  bool is_step_time;  // of median step times; else of total times, where a side knows no steps
  bool is_single_run;
  Decision decision;
  std::optional<double> total_ratio;  // where it differs by over 10 % from the step times' ratio
};

struct MemoryVerdict {
  double ratio;
  Decision decision;
};

struct AccuracyVerdict {
  Estimate difference;  // paired by seed, in fractions; n is the number of seeds
  std::optional<Interval> interval;
  double test_set_noise;  // stats/accuracy.h
  Decision decision;
};

// The least difference of two accuracies p and q (fractions) of one seed each that decides: two
// points, or what the choice of the samples explains where that is more (stats/accuracy.h).
double one_seed_bound(double p, double q, const std::optional<int64_t>& samples);

// Nothing when a side has no figure.
std::optional<SpeedVerdict> speed_verdict(const ModeRecord& mode, const ModeRecord& reference);
std::optional<MemoryVerdict> memory_verdict(const ModeRecord& mode, const ModeRecord& reference);
// Of test accuracies on `samples` test samples.
std::optional<AccuracyVerdict> accuracy_verdict(const ModeRecord& mode, const ModeRecord& reference,
                                                const std::optional<int64_t>& samples);

// The first mark that forbids a verdict on time (busy, throttled, drift, ecc-errors, debug-build,
// too-small),
// or null. other-machine speaks of the distance to another file, not of the modes of one.
const Mark* mark_against_time(const ModeRecord& mode);

}  // namespace precbench
