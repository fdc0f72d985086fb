#include "bench/judge/judge.h"

#include <algorithm>
#include <cmath>

#include "bench/judge/judge_parts.h"
#include "bench/stats/accuracy.h"

namespace precbench {
namespace {

bool is_lower_better(const MetricTraits& metric) { return metric.better == BetterWhen::lower; }

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

double loss_of_limit(const MetricTraits& metric, double limit) {
  return is_lower_better(metric) ? std::log1p(limit) : -std::log1p(-limit);
}

double change_of_loss(const MetricTraits& metric, double loss) {
  return std::expm1(is_lower_better(metric) ? loss : -loss);
}

bool reaches(double loss, double bound) { return std::abs(loss) >= bound - kRounding; }

Verdict direction(double loss) { return loss < 0 ? Verdict::better : Verdict::worse; }

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
  std::vector<TimeCase> times;
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
      times.push_back({&result, &pair});
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

}  // namespace precbench
