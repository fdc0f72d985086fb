// What a run's numbers tell beside the reference's: losses that drift apart, gradients that vanish,
// weights that do not move; and why a mode saves less memory than people expect.
#pragma once

#include <optional>
#include <string>

#include "bench/result/document.h"

namespace precbench {

// How far the losses of two runs with the same seed lie apart at the same step. Both traces are
// averaged over kLossWindow steps first: single batches differ by much more than models do.
struct LossDivergence {
  double largest = 0;                   // relative to the reference's loss
  int64_t largest_at = 0;               // last step of that window
  std::optional<int64_t> beyond_since;  // of the first window beyond kLossBand
};

inline constexpr int64_t kLossWindow = 20;
// Rounding in another order moves the averaged loss of the small CNN by up to about 5 % within an
// epoch.
inline constexpr double kLossBand = 0.10;

// Nothing where the runs have different seeds or strides, or fewer steps than a window.
std::optional<LossDivergence> loss_divergence(const RunRecord& run, const RunRecord& reference);

// {largest, largest_at, beyond_since, band, window, unknown}; null without a pair of runs.
json loss_divergence_json(const ModeRecord& mode, const ModeRecord& reference);

// For the table, short; empty where nothing is remarkable: "31 % of weights stall", "9 % more
// gradients vanish", "loss drifts from step 240". A share counts only where it is
// kRemarkableShare above the reference's: every network has gradients that are zero.
std::string numeric_note(const ModeRecord& mode, const ModeRecord* reference);
inline constexpr double kRemarkableShare = 0.05;

// "16-mixed keeps float32 weights, gradients and optimizer state: 76 % of its peak", for an
// autocast mode over float32 weights that saves less than kExpectedSaving of the reference's
// memory, where these three are at least kMostOfThePeak of its own; empty for others.
std::string memory_note(const ModeRecord& mode, const ModeRecord& reference);
inline constexpr double kExpectedSaving = 0.25;
inline constexpr double kMostOfThePeak = 0.5;

}  // namespace precbench
