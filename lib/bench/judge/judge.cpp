#include "bench/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "bench/stats/accuracy.h"
#include "bench/stats/significance.h"
#include "bench/text/units.h"

namespace precbench {
namespace {

// "same" needs an experiment that could have seen a change: where the interval reaches further than
// this many limits (and two points for accuracies), noise hides whatever there is.
constexpr double kWidestSame = 2.0;

// Of several modes at once less is left to chance: with 0.05 seven modes without a change at 3 %
// noise gave a false alarm in 1.6 % of the cases, with this in 1.3 %.
constexpr double kFamilyError = 0.04;

// Shares of a byte or of the last digit do not decide at the limit itself.
constexpr double kRounding = 1e-9;

std::string percent(double fraction) { return fmt::format("{:+.1f} %", 100 * fraction); }
std::string points(double fraction) { return fmt::format("{:+.2f} pp", 100 * fraction); }

void conclude(MetricComparison& result, Verdict verdict, const std::string& why) {
  result.verdict = verdict;
  result.why = why;
}

bool is_lower_better(const MetricTraits& metric) { return metric.better == BetterWhen::lower; }

// A change in the metric's bad direction, as the logarithm of a factor: 0.095 is 10 % slower, and
// its negative as much faster, so that swapping the sides swaps the verdict. `limit` stands as it
// was written: a throughput falls by it, a time rises by it.
double loss_of_limit(const MetricTraits& metric, double limit) {
  return is_lower_better(metric) ? std::log1p(limit) : -std::log1p(-limit);
}

// The change (0.1 = 10 % more) that such a loss is.
double change_of_loss(const MetricTraits& metric, double loss) {
  return std::expm1(is_lower_better(metric) ? loss : -loss);
}

bool reaches(double loss, double bound) { return std::abs(loss) >= bound - kRounding; }

Verdict direction(double loss) { return loss < 0 ? Verdict::better : Verdict::worse; }

std::map<std::pair<int64_t, int64_t>, double> values_by_run(const ModeRecord& mode,
                                                            const MetricTraits& metric) {
  std::map<std::pair<int64_t, int64_t>, double> values;
  for (const RunRecord* run : measured_runs(mode)) {
    if (const auto value = metric.value(*run)) values[{run->seed, run->repeat}] = *value;
  }
  return values;
}

// What a pair's times show: how much slower the current side is, and how sure that is.
struct TimeChange {
  double loss = 0;         // of the means
  double median_loss = 0;  // of the medians: one run far off does not move it
  Spread spread;           // squared error of `loss`, with its degrees of freedom; n < 2: none
  double runs = 0;         // 1/n of both sides: what a run's variance is multiplied with
};

std::vector<double> values_of(const ModeRecord& mode, const MetricTraits& metric) {
  std::vector<double> values;
  for (const auto& [run, value] : values_by_run(mode, metric)) values.push_back(value);
  return values;
}

TimeChange unpaired_change(const Estimate& base, const Estimate& current, const ModePair& pair,
                           const MetricTraits& metric) {
  const double sign = is_lower_better(metric) ? 1 : -1;
  TimeChange change;
  change.loss = sign * std::log(current.mean / base.mean);
  change.median_loss = sign * std::log(median_of(values_of(*pair.current, metric)) /
                                       median_of(values_of(*pair.base, metric)));
  change.runs = 1 / static_cast<double>(base.n) + 1 / static_cast<double>(current.n);
  if (base.std && current.std) change.spread = welch_spread(base, current);
  return change;
}

std::optional<TimeChange> paired_change(const ModePair& pair, const MetricTraits& metric) {
  const double sign = is_lower_better(metric) ? 1 : -1;
  const auto base = values_by_run(*pair.base, metric);
  std::vector<double> losses;
  for (const auto& [run, value] : values_by_run(*pair.current, metric)) {
    const auto other = base.find(run);
    if (other != base.end()) losses.push_back(sign * std::log(value / other->second));
  }
  const auto mean = estimate(losses);
  if (!mean) return std::nullopt;
  const auto n = static_cast<double>(mean->n);
  TimeChange change{mean->mean, median_of(losses), {}, 1 / n};
  if (mean->std) change.spread = {*mean->std * *mean->std / n, mean->degrees_of_freedom};
  return change;
}

// Variance of single runs (relative), pooled over everything that was measured in the same way.
class Pool {
 public:
  void add(double variance, double degrees) {
    squares_ += variance * degrees;
    degrees_ += degrees;
  }
  // The larger of a pair's own spread and the pooled one, with the pool's degrees of freedom. A
  // pair by itself has its own alone.
  Spread of(const TimeChange& change, size_t family) const {
    if (family < 2) return change.spread;
    const double pooled = squares_ / degrees_ * change.runs;
    return {std::max(pooled, change.spread.squared_error),
            std::max(degrees_, change.spread.degrees)};
  }

 private:
  double squares_ = 0, degrees_ = 0;
};

constexpr std::array<std::string_view, 7> kAgainstTime = {
    "busy", "throttled", "drift", "trend", "ecc-errors", "debug-build", "too-small"};

bool is_against_time(const Mark& mark) {
  return std::find(kAgainstTime.begin(), kAgainstTime.end(), mark.id) != kAgainstTime.end();
}

// What the marks against a mode's times allow, as logarithms of factors.
struct Disturbance {
  std::string marks;
  double slowed = 0;          // its clean times may be so much shorter (busy, throttled)
  double moved = 0;           // or so much shorter or longer (drift, trend)
  bool is_forbidden = false;  // by a mark that bounds nothing
};

Disturbance disturbance_of(const ModeRecord& mode, bool is_interleaved) {
  Disturbance found;
  for (const Mark& mark : mode.marks) {
    const bool is_slow_change = mark.id == "drift" || mark.id == "trend";
    // What moves slowly moves both runs of a pair.
    if (!is_against_time(mark) || (is_interleaved && is_slow_change)) continue;
    found.marks += (found.marks.empty() ? "" : ", ") + mark.id;
    // Without a bound it may be all of the time.
    const double most = -std::log1p(-mark.lost.value_or(1));
    if (is_slow_change) {
      found.moved += most;
    } else if (mark.id == "busy" || mark.id == "throttled") {
      found.slowed += most;
    } else {
      found.is_forbidden = true;
    }
  }
  return found;
}

// One pair on its way to a verdict.
struct Case {
  MetricComparison* result;
  const ModePair* pair;
  std::optional<TimeChange> change;  // nothing: there is no ratio to judge
  Spread spread;                     // as judged
  double surest_loss = 0;            // what is left of the loss in the worst case of the marks
  std::string marked;                // "new is marked busy"
  bool is_forbidden = false;         // by a mark that bounds nothing
  double error = 1;                  // of `surest_loss` being chance (two-sided)
  bool is_established = false;
};

// Marks that slow down can have made the slower side's loss, not the other's; so the verdict has to
// hold without what they may have cost that side.
void apply_marks(Case& one, bool is_interleaved) {
  const Disturbance base = disturbance_of(*one.pair->base, is_interleaved);
  const Disturbance current = disturbance_of(*one.pair->current, is_interleaved);
  one.surest_loss = one.change->loss;
  if (!base.marks.empty()) one.marked = "base is marked " + base.marks;
  if (!current.marks.empty()) {
    one.marked += (one.marked.empty() ? "new is marked " : ", new ") + current.marks;
  }
  one.is_forbidden = base.is_forbidden || current.is_forbidden;
  const double moved = base.moved + current.moved;
  one.surest_loss = one.surest_loss > 0 ? std::max(one.surest_loss - current.slowed - moved, 0.0)
                                        : std::min(one.surest_loss + base.slowed + moved, 0.0);
}

void judge_time(Case& one, size_t family) {
  MetricComparison& result = *one.result;
  const MetricTraits& metric = *result.metric;
  const double limit = one.pair->limit;
  const double needed = loss_of_limit(metric, limit);
  const double alone = std::max(needed, std::log(kSingleRunTimeFactor));
  const double loss = one.surest_loss;
  if (one.change->loss == 0) return conclude(result, Verdict::same, "the same figures");
  const std::string bound = fmt::format("{:.0f} %", 100 * std::abs(change_of_loss(metric, alone)));
  if (result.is_single) {
    if (reaches(loss, alone)) {
      return conclude(result, direction(loss), "beyond " + bound + ", what single runs can show");
    }
    return conclude(result, Verdict::inconclusive,
                    "one run on a side: under " + bound + " nothing can be told; use --repeats 5");
  }
  const std::string interval = fmt::format("95 % interval {} to {}", percent(result.interval->low),
                                           percent(result.interval->high));
  const bool is_large = reaches(loss, needed);
  if (one.is_established && is_large) return conclude(result, direction(loss), interval);
  const double median = one.change->median_loss + loss - one.change->loss;
  if (reaches(loss, alone) && reaches(median, alone) && median * loss > 0) {
    return conclude(result, direction(loss),
                    interval + ", but beyond " + bound + ", what single runs can show");
  }
  if (one.is_established) {
    return conclude(result, Verdict::same,
                    interval + fmt::format(", under the limit of {:g} %", 100 * limit));
  }
  const double reach = std::max(result.interval->high, 1 / (1 + result.interval->low) - 1);
  if (!is_large && reach <= kWidestSame * std::max(limit, kTimeLimit)) {
    return conclude(result, Verdict::same, interval);
  }
  const bool is_alone = result.interval->low > 0 || result.interval->high < 0;
  conclude(result, Verdict::inconclusive,
           interval +
               (is_alone && family > 1 ? fmt::format(": not established among {} modes", family)
                                       : ": too noisy") +
               ", use more --repeats");
}

// A verdict on a marked side holds only where the marks cannot have made it.
void weigh_marks(Case& one) {
  if (one.marked.empty()) return;
  MetricComparison& result = *one.result;
  const bool is_decided = result.verdict == Verdict::better || result.verdict == Verdict::worse;
  if (is_decided && !one.is_forbidden) {
    result.least_change = change_of_loss(*result.metric, one.surest_loss);
    result.why += fmt::format("; {}: {} at least without what that may have cost", one.marked,
                              percent(*result.least_change));
    return;
  }
  result.is_refused = true;
  conclude(result, Verdict::inconclusive,
           one.marked + (one.is_forbidden ? "" : ": the difference may come from that"));
}

void fill_interval(Case& one, bool is_paired) {
  MetricComparison& result = *one.result;
  const double ratio = result.current->mean / result.base->mean;
  result.change = is_paired ? change_of_loss(*result.metric, one.change->loss) : ratio - 1;
  result.is_single = one.spread.degrees == 0;
  if (result.is_single) return;
  const double half = half_width(one.spread, kConfidence);
  const double one_end = change_of_loss(*result.metric, one.change->loss - half);
  const double other_end = change_of_loss(*result.metric, one.change->loss + half);
  result.interval = {std::min(one_end, other_end), std::max(one_end, other_end)};
}

void judge_times(std::vector<Case>& cases, const MetricTraits& metric,
                 const JudgeOptions& options) {
  Pool pool;
  std::set<const ModeRecord*> pooled;
  for (Case& one : cases) {
    const Estimate &base = *one.result->base, &current = *one.result->current;
    if (!(base.mean > 0) || !(current.mean > 0)) {
      one.result->why = "a figure of zero has no ratio";
      continue;
    }
    if (options.is_interleaved) one.change = paired_change(*one.pair, metric);
    if (one.change) {
      if (one.change->spread.degrees > 0) {
        pool.add(one.change->spread.squared_error / one.change->runs, one.change->spread.degrees);
      }
      continue;
    }
    one.change = unpaired_change(base, current, *one.pair, metric);
    const std::pair<const ModeRecord*, const Estimate*> sides[] = {{one.pair->base, &base},
                                                                   {one.pair->current, &current}};
    for (const auto& [mode, value] : sides) {
      if (!value->std || !pooled.insert(mode).second) continue;
      const double relative = *value->std / value->mean;
      pool.add(relative * relative, value->degrees_of_freedom);
    }
  }
  const auto family =
      static_cast<size_t>(std::count_if(cases.begin(), cases.end(), [](const Case& one) {
        return one.change && one.change->spread.degrees > 0;
      }));
  std::vector<double> errors;
  for (Case& one : cases) {
    if (!one.change) continue;
    if (one.change->spread.degrees > 0) one.spread = pool.of(*one.change, family);
    if (const auto ratio = ratio_of(*one.result->current, *one.result->base)) {
      one.result->error = ratio->error;
    }
    fill_interval(one, options.is_interleaved);
    apply_marks(one, options.is_interleaved);
    if (!one.result->is_single) {
      one.error = two_sided_error(one.surest_loss, one.spread);
      errors.push_back(one.error);
    }
  }
  const double accepted = largest_accepted(errors, family > 1 ? kFamilyError : 1 - kConfidence);
  for (Case& one : cases) {
    if (!one.change) continue;
    one.is_established = !one.result->is_single && one.error <= accepted;
    judge_time(one, family);
    weigh_marks(one);
  }
}

// Counted, not sampled: one run decides. Where the repeats differ all the same, their ranges must
// not overlap.
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

// Seed by seed where both sides have the same seeds; else by the means of all.
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

// The mark that forbids a verdict whatever the figures, with the side it stands on; or nothing.
std::optional<std::string> forbidden(const MetricComparison& result, const ModePair& pair,
                                     const JudgeOptions& options) {
  const bool is_accuracy = result.metric->unit == MetricUnit::fraction;
  if (!is_accuracy && options.other_machine_counts &&
      (has_mark(*pair.base, "other-machine") || has_mark(*pair.current, "other-machine"))) {
    return "measured on another machine";
  }
  if (!is_accuracy) return std::nullopt;
  for (const ModeRecord* mode : {pair.base, pair.current}) {
    const std::string side = mode == pair.base ? "base" : "new";
    if (has_mark(*mode, "ecc-errors")) return side + " is marked ecc-errors";
    // What learned before and does no more is worse, and that is a verdict.
    const bool is_loss = mode == pair.current && result.verdict == Verdict::worse;
    if (has_mark(*mode, "at-chance") && !is_loss) {
      return side + " is at chance: it learned nothing";
    }
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

double one_seed_bound(double p, double q, const std::optional<int64_t>& samples) {
  return std::max(kOneSeedAccuracy, test_set_noise(p, q, samples));
}

double single_run_bound(const MetricTraits& metric, double limit) {
  return std::abs(change_of_loss(
      metric, std::max(loss_of_limit(metric, limit), std::log(kSingleRunTimeFactor))));
}

std::vector<MetricComparison> judge(const std::vector<ModePair>& pairs, const MetricTraits& metric,
                                    const JudgeOptions& options) {
  std::vector<MetricComparison> results(pairs.size());
  std::vector<Case> times;
  for (size_t i = 0; i < pairs.size(); ++i) {
    MetricComparison& result = results[i];
    const ModePair& pair = pairs[i];
    result.metric = &metric;
    result.base = metric_estimate(*pair.base, metric);
    result.current = metric_estimate(*pair.current, metric);
    if (!result.base && !result.current) {
      conclude(result, Verdict::same, "no figure on either side");
    } else if (!result.base || !result.current) {
      result.why = std::string("no figure in ") + (result.base ? "new: " : "base: ") +
                   metric_unknown_reason(result.base ? *pair.current : *pair.base, metric);
    } else if (metric.unit == MetricUnit::fraction) {
      judge_accuracy(result, pair, options.sizes);
    } else if (metric.unit == MetricUnit::bytes) {
      judge_memory(result, pair.limit);
    } else {
      times.push_back({&result, &pair, {}, {}, 0, "", false, 1, false});
    }
  }
  judge_times(times, metric, options);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!results[i].base || !results[i].current) continue;
    if (const auto reason = forbidden(results[i], pairs[i], options)) {
      conclude(results[i], Verdict::inconclusive, *reason);
      results[i].is_refused = true;
    }
  }
  return results;
}

MetricComparison judge(const ModePair& pair, const MetricTraits& metric,
                       const JudgeOptions& options) {
  return judge(std::vector<ModePair>{pair}, metric, options).front();
}

bool lost_learning(const ModeRecord& base, const ModeRecord& current, const DataSizes& sizes) {
  if (has_mark(base, "at-chance") || !has_mark(current, "at-chance")) return false;
  const auto before = metric_estimate(base, *find_metric("test_accuracy"));
  const auto now = metric_estimate(current, *find_metric("test_accuracy"));
  return before && now &&
         before->mean - now->mean >= one_seed_bound(before->mean, now->mean, sizes.test);
}

const Mark* mark_against_time(const ModeRecord& mode) {
  const auto found = std::find_if(mode.marks.begin(), mode.marks.end(), is_against_time);
  return found == mode.marks.end() ? nullptr : &*found;
}

std::vector<Standing> standings(const ResultDocument& document, const ModeRecord& reference) {
  // Beyond this, total times and step times tell different stories and a note says why.
  constexpr double kTotalsDiffer = 1.10;
  std::vector<Standing> found;
  for (const ModeRecord& mode : document.modes) {
    if (&mode != &reference) found.push_back({&mode, {}, {}, {}, std::nullopt});
  }
  const JudgeOptions options{false, false, data_sizes(document)};
  const auto judged = [&](std::string_view name) {
    const MetricTraits& metric = *find_metric(name);
    std::vector<ModePair> pairs;
    for (const Standing& one : found)
      pairs.push_back({&reference, one.mode, default_limit(metric)});
    return judge(pairs, metric, options);
  };
  const auto steps = judged("step_time"), totals = judged("time"), memory = judged("memory"),
             accuracy = judged("test_accuracy");
  for (size_t i = 0; i < found.size(); ++i) {
    found[i].speed = steps[i].change ? steps[i] : totals[i];
    found[i].memory = memory[i];
    found[i].accuracy = accuracy[i];
    if (!steps[i].change || !totals[i].change) continue;
    const double between = (1 + *totals[i].change) / (1 + *steps[i].change);
    if (std::max(between, 1 / between) > kTotalsDiffer) {
      found[i].total_ratio = 1 + *totals[i].change;
    }
  }
  return found;
}

}  // namespace precbench
