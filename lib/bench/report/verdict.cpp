#include "bench/report/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/stats/accuracy.h"

namespace precbench {
namespace {

// Beyond this, total times and step times tell different stories and a note says why.
constexpr double kTotalsDiffer = 1.10;

Decision decide(double ratio, const std::optional<Interval>& interval, double factor) {
  if (ratio <= 1 / factor && (!interval || interval->high < 1)) return Decision::better;
  if (ratio >= factor && (!interval || interval->low > 1)) return Decision::worse;
  return Decision::undecided;
}

std::optional<Ratio> ratio_of_metric(const ModeRecord& mode, const ModeRecord& reference,
                                     std::string_view name) {
  const auto value = metric_estimate(mode, *find_metric(name));
  const auto base = metric_estimate(reference, *find_metric(name));
  return value && base ? ratio_of(*value, *base) : std::nullopt;
}

}  // namespace

std::optional<SpeedVerdict> speed_verdict(const ModeRecord& mode, const ModeRecord& reference) {
  const auto steps = ratio_of_metric(mode, reference, "step_time");
  const auto totals = ratio_of_metric(mode, reference, "time");
  if (!steps && !totals) return std::nullopt;
  SpeedVerdict verdict{};
  verdict.is_step_time = steps.has_value();
  verdict.time = steps ? *steps : *totals;
  verdict.is_single_run = !verdict.time.interval;
  verdict.decision = decide(verdict.time.ratio, verdict.time.interval,
                            verdict.is_single_run ? kSingleRunTimeFactor : kTimeFactor);
  if (steps && totals) {
    const double between = totals->ratio / steps->ratio;
    if (std::max(between, 1 / between) > kTotalsDiffer) verdict.total_ratio = totals->ratio;
  }
  return verdict;
}

std::optional<MemoryVerdict> memory_verdict(const ModeRecord& mode, const ModeRecord& reference) {
  const auto ratio = ratio_of_metric(mode, reference, "memory");
  if (!ratio) return std::nullopt;
  return MemoryVerdict{ratio->ratio, decide(ratio->ratio, std::nullopt, kMemoryFactor)};
}

double one_seed_bound(double p, double q, const std::optional<int64_t>& samples) {
  return std::max(kOneSeedAccuracy, test_set_noise(p, q, samples));
}

std::optional<AccuracyVerdict> accuracy_verdict(const ModeRecord& mode, const ModeRecord& reference,
                                                const std::optional<int64_t>& samples) {
  const MetricTraits& metric = *find_metric("test_accuracy");
  const auto difference =
      paired_differences(values_by_seed(mode, metric), values_by_seed(reference, metric));
  if (!difference) return std::nullopt;
  const double p = metric_estimate(mode, metric)->mean;
  const double q = metric_estimate(reference, metric)->mean;
  AccuracyVerdict verdict{*difference, t_interval(*difference), test_set_noise(p, q, samples),
                          Decision::undecided};
  const bool is_decided = verdict.interval
                              ? verdict.interval->low > 0 || verdict.interval->high < 0
                              : std::abs(difference->mean) >= one_seed_bound(p, q, samples);
  if (!is_decided || (samples && is_of_few_samples(difference->mean, *samples))) return verdict;
  verdict.decision = difference->mean > 0 ? Decision::better : Decision::worse;
  return verdict;
}

const Mark* mark_against_time(const ModeRecord& mode) {
  constexpr std::array<std::string_view, 6> kBlocking = {"busy",       "throttled",   "drift",
                                                         "ecc-errors", "debug-build", "too-small"};
  const auto found = std::find_if(mode.marks.begin(), mode.marks.end(), [&](const Mark& mark) {
    return std::find(kBlocking.begin(), kBlocking.end(), mark.id) != kBlocking.end();
  });
  return found == mode.marks.end() ? nullptr : &*found;
}

}  // namespace precbench
