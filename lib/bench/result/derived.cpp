#include "bench/result/derived.h"

#include "bench/result/numeric_notes.h"

namespace precbench {
namespace {

constexpr const char* kOneRun = "needs two runs";
constexpr const char* kOneSeed = "needs two seeds";

void put_interval(json& object, const std::optional<Interval>& interval, const char* reason) {
  if (interval) {
    object["low"] = interval->low;
    object["high"] = interval->high;
    return;
  }
  for (const char* key : {"low", "high"}) {
    object[key] = nullptr;
    object["unknown"][key] = reason;
  }
}

void put_spread(json& object, const char* key, const std::optional<double>& value,
                const char* reason) {
  object[key] = nullable(value);
  if (!value) object["unknown"][key] = reason;
}

json estimate_json(const Estimate& estimate, const char* reason) {
  json object = {{"mean", estimate.mean},
                 {"min", estimate.min},
                 {"max", estimate.max},
                 {"n", estimate.n},
                 {"unknown", json::object()}};
  put_spread(object, "std", estimate.std, reason);
  put_interval(object, t_interval(estimate), reason);
  return object;
}

json difference_json(const Estimate& difference) {
  json object = {{"difference", difference.mean}, {"n", difference.n}, {"unknown", json::object()}};
  put_spread(object, "std", difference.std, kOneSeed);
  put_interval(object, t_interval(difference), kOneSeed);
  return object;
}

json ratio_json(const Ratio& ratio) {
  json object = {{"ratio", ratio.ratio}, {"unknown", json::object()}};
  put_spread(object, "error", ratio.error, kOneRun);
  put_interval(object, ratio.interval, kOneRun);
  return object;
}

json relative_metric(const ModeRecord& mode, const ModeRecord& reference,
                     const MetricTraits& metric) {
  if (metric.unit == MetricUnit::fraction) {
    const auto difference =
        paired_differences(values_by_seed(mode, metric), values_by_seed(reference, metric));
    return difference ? difference_json(*difference) : json(nullptr);
  }
  const auto value = metric_estimate(mode, metric);
  const auto base = metric_estimate(reference, metric);
  if (!value || !base) return nullptr;
  const auto ratio = ratio_of(*value, *base);
  return ratio ? ratio_json(*ratio) : json(nullptr);
}

}  // namespace

json summary_json(const ModeRecord& mode) {
  json summary = {{"unknown", json::object()}};
  for (const MetricTraits& metric : kMetrics) {
    const std::string name(metric.name);
    const bool over_seeds = metric.unit == MetricUnit::fraction;
    if (const auto value = metric_estimate(mode, metric)) {
      summary[name] = estimate_json(*value, over_seeds ? kOneSeed : kOneRun);
    } else {
      summary[name] = nullptr;
      summary["unknown"][name] = metric_unknown_reason(mode, metric);
    }
  }
  return summary;
}

json relative_json(const ModeRecord& mode, const ModeRecord* reference) {
  if (reference == nullptr || &mode == reference) return nullptr;
  json relative = {{"unknown", json::object()}};
  for (const MetricTraits& metric : kMetrics) {
    const std::string name(metric.name);
    relative[name] = relative_metric(mode, *reference, metric);
    if (relative[name].is_null()) {
      relative["unknown"][name] = metric_estimate(mode, metric)
                                      ? reference->mode + " has no figure to compare with"
                                      : metric_unknown_reason(mode, metric);
    }
  }
  relative["loss_trace"] = loss_divergence_json(mode, *reference);
  if (relative["loss_trace"].is_null()) {
    relative["unknown"]["loss_trace"] = "no two runs of one seed with enough steps";
  }
  return relative;
}

}  // namespace precbench
