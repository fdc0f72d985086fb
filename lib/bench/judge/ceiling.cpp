#include "bench/judge/ceiling.h"

#include <fmt/format.h>

#include <vector>

#include "bench/result/measured.h"
#include "bench/stats/outliers.h"

namespace precbench {
namespace {

std::optional<double> median_tflops(const ModeRecord& mode) {
  std::vector<double> rates;
  for (const RunRecord* run : measured_runs(mode)) {
    if (run->time.tflops) rates.push_back(*run->time.tflops);
  }
  if (rates.empty()) return std::nullopt;
  return median_of(rates);
}

}  // namespace

std::optional<std::string> ceiling_note(const ModeRecord& mode) {
  const auto reached = median_tflops(mode);
  if (!reached || !mode.ceiling) return std::nullopt;
  return fmt::format(
      "{:.3g} TFLOP/s in matrix products and convolutions, {:.0f} % of {}'s rate {} ({})", *reached,
      100 * *reached / mode.ceiling->tflops, mode.ceiling->format,
      mode.ceiling->source == "data sheet" ? "as promised" : "measured here", mode.ceiling->source);
}

std::optional<Mark> too_small_mark(const ModeRecord& mode) {
  const auto reached = median_tflops(mode);
  if (!reached || !mode.ceiling) return std::nullopt;
  const double share = *reached / mode.ceiling->tflops;
  if (share >= kTooSmallShare) return std::nullopt;
  return Mark{"too-small", fmt::format("reaches {:.1f} % of {}'s rate: launches take the time",
                                       100 * share, mode.ceiling->format)};
}

}  // namespace precbench
