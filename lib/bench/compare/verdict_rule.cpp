#include "bench/compare/verdict_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/report/units.h"
#include "bench/report/verdict.h"
#include "bench/stats/accuracy.h"

namespace precbench {
namespace {

// "same" needs an experiment that could have seen a change: where the interval reaches further than
// this many limits (and two points for accuracies), noise hides whatever there is.
constexpr double kWidestSame = 2.0;

std::string percent(double fraction) { return fmt::format("{:+.1f} %", 100 * fraction); }
std::string points(double fraction) { return fmt::format("{:+.2f} pp", 100 * fraction); }

Verdict direction(double change, const MetricTraits& metric) {
  const bool is_better = metric.better == BetterWhen::higher ? change > 0 : change < 0;
  return is_better ? Verdict::better : Verdict::worse;
}

void conclude(MetricComparison& result, Verdict verdict, const std::string& why) {
  result.verdict = verdict;
  result.why = why;
}

// Whether a relative change reaches the limit; a fall by a factor counts as much as the rise by it,
// so that swapping the sides swaps the verdict.
bool reaches(double change, double limit) {
  // Shares of a byte or of the last digit do not decide at the limit itself.
  constexpr double kRounding = 1e-9;
  return change >= limit - kRounding || 1 / (1 + change) >= 1 + limit - kRounding;
}

void judge_times(MetricComparison& result, const Ratio& ratio, double limit) {
  const double change = ratio.ratio - 1;
  if (change == 0) return conclude(result, Verdict::same, "the same figures");
  if (!ratio.interval) {
    const double bound = std::max(limit, kSingleRunTimeFactor - 1);
    if (reaches(change, bound)) {
      return conclude(result, direction(change, *result.metric),
                      fmt::format("beyond {:.0f} %, what single runs can show", 100 * bound));
    }
    return conclude(result, Verdict::inconclusive,
                    fmt::format("one run on a side: under {:.0f} % nothing can be told; use "
                                "--repeats 5",
                                100 * bound));
  }
  const std::string interval =
      fmt::format("95 % interval {} to {}", percent(ratio.interval->low - 1),
                  percent(ratio.interval->high - 1));
  const bool is_established = ratio.interval->low > 1 || ratio.interval->high < 1;
  if (is_established && reaches(change, limit)) {
    return conclude(result, direction(change, *result.metric), interval);
  }
  if (is_established) {
    return conclude(result, Verdict::same,
                    interval + fmt::format(", under the limit of {:g} %", 100 * limit));
  }
  const double reach = std::max(ratio.interval->high - 1, 1 / ratio.interval->low - 1);
  if (!reaches(change, limit) && reach <= kWidestSame * std::max(limit, kTimeLimit)) {
    return conclude(result, Verdict::same, interval);
  }
  conclude(result, Verdict::inconclusive, interval + ": too noisy, use more --repeats");
}

void judge_memory(MetricComparison& result, double limit) {
  const double change = *result.change;
  if (change != 0 && reaches(change, limit)) {
    return conclude(result, direction(change, *result.metric), "memory is counted, not sampled");
  }
  conclude(result, Verdict::same,
           change == 0 ? "the same figures" : fmt::format("under {:g} %", 100 * limit));
}

void judge_accuracy(MetricComparison& result, int64_t seeds, bool is_paired, double limit,
                    const std::optional<int64_t>& samples) {
  const double change = *result.change;
  const std::string n = fmt::format("{}n={} seed{}", is_paired ? "paired by seed, " : "", seeds,
                                    seeds == 1 ? "" : "s");
  if (change == 0 && (!result.interval || result.interval->low == result.interval->high)) {
    return conclude(result, Verdict::same, "the same figures");
  }
  if (!result.interval) {
    const double noise = one_seed_bound(result.base->mean, result.current->mean, samples);
    const double bound = std::max(limit, noise);
    const std::string what = noise > kOneSeedAccuracy
                                 ? fmt::format("one seed and {} samples", *samples)
                                 : std::string("one seed");
    if (std::abs(change) >= bound) {
      return conclude(result, direction(change, *result.metric),
                      fmt::format("beyond {} points, what {} can show", bound_text(bound), what));
    }
    return conclude(result, Verdict::inconclusive,
                    fmt::format("{}: under {} points nothing can be told; use --seeds", what,
                                bound_text(bound)));
  }
  const std::string interval = fmt::format(
      "95 % interval {} to {}, {}", points(result.interval->low), points(result.interval->high), n);
  const bool is_established = result.interval->low > 0 || result.interval->high < 0;
  const bool is_large = std::abs(change) >= limit;
  if (is_established && is_large && samples && is_of_few_samples(change, *samples)) {
    return conclude(result, Verdict::inconclusive,
                    interval + fmt::format(": fewer than 4 of {} samples", *samples));
  }
  if (is_established && is_large) {
    const bool is_of_this_set =
        std::abs(change) < test_set_noise(result.base->mean, result.current->mean, samples);
    return conclude(
        result, direction(change, *result.metric),
        interval + (is_of_this_set ? fmt::format(", on these {} samples", *samples) : ""));
  }
  const double reach = std::max(std::abs(result.interval->low), std::abs(result.interval->high));
  if (is_established || (!is_large && reach <= kOneSeedAccuracy)) {
    return conclude(result, Verdict::same, interval + ": within seed noise");
  }
  conclude(result, Verdict::inconclusive, interval + ": too noisy, use more --seeds");
}

void compare_accuracy(const ModeRecord& base, const ModeRecord& current, double limit,
                      const DataSizes& sizes, MetricComparison& result) {
  const auto& samples = result.metric->name == "test_accuracy" ? sizes.test : sizes.train;
  const auto paired = paired_differences(values_by_seed(current, *result.metric),
                                         values_by_seed(base, *result.metric));
  if (paired) {
    result.change = paired->mean;
    result.interval = t_interval(*paired);
    return judge_accuracy(result, paired->n, true, limit, samples);
  }
  result.change = result.current->mean - result.base->mean;
  result.interval = difference_interval(*result.current, *result.base);
  judge_accuracy(result, std::min(result.base->n, result.current->n), false, limit, samples);
}

// The mark that forbids a verdict on this metric, with the side it stands on; or nothing.
std::optional<std::string> forbidden(const ModeRecord& base, const ModeRecord& current,
                                     const MetricTraits& metric) {
  const bool is_accuracy = metric.unit == MetricUnit::fraction;
  if (!is_accuracy && (has_mark(base, "other-machine") || has_mark(current, "other-machine"))) {
    return "measured on another machine";
  }
  for (const ModeRecord* mode : {&base, &current}) {
    const std::string side = mode == &base ? "base" : "new";
    if (is_accuracy && has_mark(*mode, "at-chance")) {
      return side + " is at chance: it learned nothing";
    }
    if (is_accuracy && has_mark(*mode, "ecc-errors")) return side + " is marked ecc-errors";
    if (is_accuracy || metric.unit == MetricUnit::bytes) continue;
    if (const Mark* mark = mark_against_time(*mode)) return side + " is marked " + mark->id;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return "better";
    case Verdict::worse:
      return "worse";
    case Verdict::same:
      return "same";
    case Verdict::inconclusive:
      break;
  }
  return "inconclusive";
}

double default_limit(const MetricTraits& metric) {
  if (metric.unit == MetricUnit::fraction) return kAccuracyLimit;
  return metric.unit == MetricUnit::bytes ? kMemoryLimit : kTimeLimit;
}

MetricComparison compare_metric(const ModeRecord& base, const ModeRecord& current,
                                const MetricTraits& metric, double limit, bool force,
                                const DataSizes& sizes) {
  MetricComparison result;
  result.metric = &metric;
  result.base = metric_estimate(base, metric);
  result.current = metric_estimate(current, metric);
  if (!result.base && !result.current) {
    conclude(result, Verdict::same, "no figure on either side");
    return result;
  }
  if (!result.base || !result.current) {
    const bool is_base = !result.base;
    result.why = std::string("no figure in ") + (is_base ? "base: " : "new: ") +
                 metric_unknown_reason(is_base ? base : current, metric);
    return result;
  }
  if (metric.unit == MetricUnit::fraction) {
    compare_accuracy(base, current, limit, sizes, result);
  } else if (const auto ratio = ratio_of(*result.current, *result.base)) {
    result.change = ratio->ratio - 1;
    if (ratio->interval) result.interval = {ratio->interval->low - 1, ratio->interval->high - 1};
    if (metric.unit == MetricUnit::bytes) {
      judge_memory(result, limit);
    } else {
      judge_times(result, *ratio, limit);
    }
  } else {
    result.why = "a figure of zero has no ratio";
  }
  if (const auto reason = forbidden(base, current, metric); reason && !force) {
    conclude(result, Verdict::inconclusive, *reason);
  }
  return result;
}

}  // namespace precbench
