// Memory and accuracy: counts of bytes and of right answers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/judge/judge_parts.h"
#include "bench/stats/accuracy.h"
#include "bench/text/units.h"

namespace precbench {
namespace {

std::string points(double fraction) { return fmt::format("{:+.2f} pp", 100 * fraction); }

std::string seeds_text(int64_t seeds) {
  return fmt::format("{} seed{}", seeds, seeds == 1 ? "" : "s");
}

void decide_accuracy(MetricComparison& result, bool is_paired, double limit,
                     const std::optional<int64_t>& samples) {
  const double change = *result.change;
  const double noise = test_set_noise(result.base->mean, result.current->mean, samples);
  const double bound = std::max(limit, std::max(kOneSeedAccuracy, noise));
  const std::string of_samples =
      noise > kOneSeedAccuracy ? fmt::format(" and {} samples", *samples) : "";
  const Verdict direction = change > 0 ? Verdict::better : Verdict::worse;
  if (change == 0 && (!result.interval || result.interval->low == result.interval->high)) {
    return conclude(result, Verdict::same, "the same figures");
  }
  const bool is_of_few = samples && is_of_few_samples(change, *samples);
  const bool is_beyond = std::abs(change) >= bound - kRounding && !is_of_few;
  const std::string beyond =
      fmt::format("beyond {} points, what one seed{} can show", bound_text(bound), of_samples);
  if (result.is_single) {
    if (is_beyond) return conclude(result, direction, beyond);
    return conclude(result, Verdict::inconclusive,
                    fmt::format("one seed{}: under {} points nothing can be told; use --seeds",
                                of_samples, bound_text(bound)));
  }
  const std::string interval = fmt::format(
      "95 % interval {} to {}, {}n={}", points(result.interval->low), points(result.interval->high),
      is_paired ? "paired by seed, " : "", seeds_text(result.seeds));
  const bool is_established = result.interval->low > 0 || result.interval->high < 0;
  const bool is_large = std::abs(change) >= limit - kRounding;
  if (is_established && is_large && is_of_few) {
    return conclude(result, Verdict::inconclusive,
                    interval + fmt::format(": fewer than 4 of {} samples", *samples));
  }
  if (is_established && is_large) {
    const bool is_of_this_set = std::abs(change) < noise;
    return conclude(
        result, direction,
        interval + (is_of_this_set ? fmt::format(", on these {} samples", *samples) : ""));
  }
  if (is_beyond) return conclude(result, direction, interval + ", but " + beyond);
  const double reach = std::max(std::abs(result.interval->low), std::abs(result.interval->high));
  if (is_established || (!is_large && reach <= kOneSeedAccuracy)) {
    return conclude(result, Verdict::same, interval + ": within seed noise");
  }
  conclude(result, Verdict::inconclusive, interval + ": too noisy, use more --seeds");
}

}  // namespace

void judge_memory(MetricComparison& result, double limit) {
  if (!(result.base->mean > 0) || !(result.current->mean > 0)) {
    result.why = "a figure of zero has no ratio";
    return;
  }
  const double loss = std::log(result.current->mean / result.base->mean);
  result.change = std::expm1(loss);
  if (const auto ratio = ratio_of(*result.current, *result.base)) result.error = ratio->error;
  if (loss == 0) return conclude(result, Verdict::same, "the same figures");
  if (!reaches(loss, loss_of_limit(*result.metric, limit))) {
    return conclude(result, Verdict::same, fmt::format("under {:g} %", 100 * limit));
  }
  if (result.base->max >= result.current->min && result.current->max >= result.base->min) {
    return conclude(result, Verdict::inconclusive,
                    "the ranges of the repeats overlap: it is not the same in every run");
  }
  conclude(result, direction(loss), "memory is counted, not sampled");
}

void judge_accuracy(MetricComparison& result, const ModePair& pair, const DataSizes& sizes) {
  const auto values = values_by_seed(*pair.current, *result.metric);
  const auto reference = values_by_seed(*pair.base, *result.metric);
  const bool is_paired =
      std::equal(values.begin(), values.end(), reference.begin(), reference.end(),
                 [](const auto& mine, const auto& other) { return mine.first == other.first; });
  result.seeds = static_cast<int64_t>(std::min(values.size(), reference.size()));
  if (is_paired) {
    const auto differences = paired_differences(values, reference);
    result.change = differences->mean;
    result.interval = t_interval(*differences);
  } else {
    result.change = result.current->mean - result.base->mean;
    result.interval = difference_interval(*result.current, *result.base);
  }
  result.is_single = !result.interval;
  decide_accuracy(result, is_paired, pair.limit,
                  result.metric->name == "test_accuracy" ? sizes.test : sizes.train);
}

}  // namespace precbench
