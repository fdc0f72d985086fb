#include "bench/judge/engines_compared.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/judge/advice_words.h"
#include "bench/judge/judge.h"
#include "bench/judge/reference_choice.h"
#include "bench/result/measured.h"
#include "bench/stats/estimate.h"
#include "common/engines.h"

namespace precbench {
namespace {

// So many stretches of a run tell how its speed changed on the way; a median needs some steps.
constexpr size_t kStretches = 10;
constexpr size_t kLeastSteps = 5;

// Median step times of the stretches; empty for a run that is too short.
std::vector<double> stretches_of(const RunRecord& run) {
  const std::vector<double> steps = later_steps_ms(run);
  std::vector<double> medians;
  if (steps.size() < kStretches * kLeastSteps) return medians;
  for (size_t i = 0; i < kStretches; ++i) {
    const auto at = [&](size_t part) {
      return steps.begin() + static_cast<std::ptrdiff_t>(steps.size() * part / kStretches);
    };
    medians.push_back(median_of({at(i), at(i + 1)}));
  }
  return medians;
}

// "one run each; tenths of them 1.15 to 1.31"
std::string spread_words(const ModeRecord& mode, const ModeRecord& reference) {
  const std::vector<const RunRecord*> runs = measured_runs(mode);
  const std::vector<const RunRecord*> others = measured_runs(reference);
  std::string words = runs_words(mode, reference);
  if (runs.size() != 1 || others.size() != 1) return words;
  const std::vector<double> times = stretches_of(*runs.front());
  const std::vector<double> other_times = stretches_of(*others.front());
  if (times.empty() || other_times.empty()) return words;
  std::vector<double> ratios;
  for (size_t i = 0; i < kStretches; ++i) ratios.push_back(times[i] / other_times[i]);
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  return words + fmt::format("; tenths of them {:.2f} to {:.2f}", *low, *high);
}

}  // namespace

std::string engines_compared(const ResultDocument& document) {
  const MetricTraits& metric = *find_metric("step_time");
  std::vector<ModePair> pairs;
  for (const ModeRecord& mode : document.modes) {
    if (engine_of_row(mode.mode) != kLibtorchEngine) continue;
    const ModeRecord* other = find_mode_record(document, row_name(mode.mode, kFabricEngine));
    if (other != nullptr) pairs.push_back({&mode, other, default_limit(metric)});
  }
  const std::vector<MetricComparison> judged =
      judge(pairs, metric, JudgeOptions{false, false, data_sizes(document)});
  std::string words;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!judged[i].change || judged[i].is_refused) continue;
    words += (words.empty() ? "" : ", ") + name_in_text(*pairs[i].base) + " " +
             factor_words(judged[i]) + " (" + spread_words(*pairs[i].current, *pairs[i].base) + ")";
  }
  return words.empty() ? "" : "A step in Python is, beside libtorch's: " + words + ".";
}

}  // namespace precbench
