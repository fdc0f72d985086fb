// Times are sampled: their spread, how many modes were asked and what the marks allow all count.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/judge/judge_parts.h"
#include "bench/judge/marks.h"
#include "bench/stats/significance.h"

namespace precbench {
namespace {

// "same" needs an experiment that could have seen a change: where the interval reaches further than
// this many limits (and two points for accuracies), noise hides whatever there is.
constexpr double kWidestSame = 2.0;

// Of several modes at once less is left to chance: with 0.05 seven modes without a change at 3 %
// noise gave a false alarm in 1.6 % of the cases, with this in 1.3 %.
constexpr double kFamilyError = 0.04;

std::string percent(double fraction) { return fmt::format("{:+.1f} %", 100 * fraction); }

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
    const OnTimes effect = traits_of(mark).on_times;
    if (effect == OnTimes::nothing) continue;
    // What moves slowly moves both runs of a pair.
    if (effect == OnTimes::moved && is_interleaved) continue;
    found.marks += (found.marks.empty() ? "" : ", ") + mark.id;
    // Without a bound it may be all of the time.
    const double most = -std::log1p(-mark.lost.value_or(1));
    if (effect == OnTimes::moved) found.moved += most;
    if (effect == OnTimes::slowed) found.slowed += most;
    if (effect == OnTimes::forbidden) found.is_forbidden = true;
  }
  return found;
}

// One pair on its way to a verdict.
struct Case : TimeCase {
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

}  // namespace

void judge_times(const std::vector<TimeCase>& asked, const MetricTraits& metric,
                 const JudgeOptions& options) {
  std::vector<Case> cases;
  for (const TimeCase& one : asked) cases.push_back({one, {}, {}, 0, "", false, 1, false});
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

}  // namespace precbench
