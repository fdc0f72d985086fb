#include "bench/judge/advice_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/result/measured.h"

namespace precbench {

std::string factor_words(const MetricComparison& speed) {
  const double ratio = 1 + *speed.change;
  const double factor = std::max(ratio, 1 / ratio);
  const char* direction = ratio < 1 ? "faster" : "slower";
  // The relative error of a ratio is that of its inverse.
  return speed.error ? fmt::format("{:.2f} ± {:.2f} times {}", factor,
                                   factor * *speed.error / ratio, direction)
                     : fmt::format("{:.{}f} times {}", factor, factor < 1.5 ? 2 : 1, direction);
}

std::string runs_words(const ModeRecord& mode, const ModeRecord& reference) {
  const size_t runs = measured_runs(mode).size();
  const size_t reference_runs = measured_runs(reference).size();
  if (runs == 1 && reference_runs == 1) return "one run each";
  if (runs == reference_runs) return fmt::format("{} runs each", runs);
  return fmt::format("{} runs against {}", runs, reference_runs);
}

}  // namespace precbench
