#include "bench/platform/nvml_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace precbench {
namespace {

using Member = std::optional<double> NvmlSample::*;

struct Spread {
  double min = 0, mean = 0, max = 0;
};

std::optional<Spread> spread_of(const std::vector<NvmlSample>& samples, Member member,
                                uint64_t without_reason = 0) {
  Spread spread;
  size_t count = 0;
  for (const NvmlSample& sample : samples) {
    const auto& value = sample.*member;
    if (!value || (sample.clock_reasons.value_or(0) & without_reason) != 0) continue;
    spread.min = count == 0 ? *value : std::min(spread.min, *value);
    spread.max = count == 0 ? *value : std::max(spread.max, *value);
    spread.mean += *value;
    ++count;
  }
  if (count == 0) return std::nullopt;
  spread.mean /= static_cast<double>(count);
  return spread;
}

struct Energy {
  double joules = 0;
  const char* method = "";
};

// The card's counter where both ends of the run know it; else the power samples, each pair joined
// by a straight line.
std::optional<Energy> energy_of(const std::vector<NvmlSample>& samples) {
  if (samples.size() < 2) return std::nullopt;
  const auto& first = samples.front().energy_j;
  const auto& last = samples.back().energy_j;
  if (first && last && *last >= *first) return Energy{*last - *first, "counter"};
  Energy energy{0, "power samples"};
  for (size_t i = 1; i < samples.size(); ++i) {
    const NvmlSample& from = samples[i - 1];
    const NvmlSample& to = samples[i];
    if (!from.power_w || !to.power_w) return std::nullopt;
    energy.joules += (*from.power_w + *to.power_w) / 2 * (to.time_s - from.time_s);
  }
  return energy;
}

// Share of the samples in which each reason was given.
std::optional<std::map<uint64_t, double>> reason_shares(const std::vector<NvmlSample>& samples) {
  std::map<uint64_t, double> shares;
  size_t known = 0;
  for (const NvmlSample& sample : samples) {
    if (!sample.clock_reasons) continue;
    ++known;
    for (uint64_t bit = 1; bit != 0; bit <<= 1) {
      if ((*sample.clock_reasons & bit) != 0) shares[bit] += 1;
    }
  }
  if (known == 0) return std::nullopt;
  for (auto& [bit, share] : shares) share /= static_cast<double>(known);
  return shares;
}

class EnergyObject {
 public:
  explicit EnergyObject(const Unknowns& reasons) : reasons_(reasons) {}

  // `source`: the member of NvmlSample that the figure comes from.
  void set(const char* key, const char* source, json value) {
    object_[key] = std::move(value);
    if (!object_[key].is_null()) return;
    const auto reason = reasons_.find(source);
    object_["unknown"][key] =
        reason != reasons_.end() ? reason->second : "too few samples were taken";
  }
  void explain(const char* key, const std::string& reason) { object_["unknown"][key] = reason; }
  json take() { return std::move(object_); }

 private:
  const Unknowns& reasons_;
  json object_ = {{"unknown", json::object()}};
};

json to_json(const std::optional<Spread>& spread) {
  if (!spread) return nullptr;
  return {{"min", spread->min}, {"mean", spread->mean}, {"max", spread->max}};
}

std::string percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

std::optional<Mark> throttled(const std::optional<std::map<uint64_t, double>>& reasons,
                              const std::optional<Spread>& sm_clock, const NvmlFacts& facts) {
  if (reasons) {
    const auto worst =
        std::max_element(reasons->begin(), reasons->end(), [](const auto& a, const auto& b) {
          const double left = (a.first & kThrottleReasons) != 0 ? a.second : 0;
          const double right = (b.first & kThrottleReasons) != 0 ? b.second : 0;
          return left < right;
        });
    if (worst != reasons->end() && (worst->first & kThrottleReasons) != 0 &&
        worst->second >= kThrottledShare) {
      return Mark{"throttled", "clocks were lowered in " + percent(worst->second) +
                                   " of the samples: " + clock_reason_name(worst->first)};
    }
  }
  if (sm_clock && facts.max_sm_clock_mhz && *facts.max_sm_clock_mhz > 0) {
    const double share = sm_clock->mean / *facts.max_sm_clock_mhz;
    if (share < kLowClockShare)
      return Mark{"throttled", "the mean clock was " + percent(share) + " of the card's highest"};
  }
  return std::nullopt;
}

std::optional<Mark> used_by_others(const std::vector<NvmlSample>& samples,
                                   const std::optional<int64_t>& foreign) {
  if (foreign.value_or(0) > 0) {
    return Mark{"busy", std::to_string(*foreign) +
                            (*foreign == 1 ? " other process" : " other processes") +
                            " used the GPU"};
  }
  const auto before = samples.empty() ? std::nullopt : samples.front().used_bytes;
  if (foreign || before.value_or(0) <= kOthersBytes) return std::nullopt;
  char text[80];
  std::snprintf(text, sizeof text, "others held %.1f GiB of the GPU's memory before it began",
                static_cast<double>(*before) / (1 << 30));
  return Mark{"busy", text};
}

}  // namespace

std::string clock_reason_name(uint64_t bit) {
  switch (bit) {
    case 0x1:
      return "idle";
    case 0x2:
      return "clocks set by the user";
    case 0x4:
      return "power cap";
    case 0x8:
      return "hardware slowdown";
    case 0x10:
      return "sync boost";
    case 0x20:
      return "too hot (software)";
    case 0x40:
      return "too hot (hardware)";
    case 0x80:
      return "power brake";
    case 0x100:
      return "display clocks";
    default: {
      char text[32];
      std::snprintf(text, sizeof text, "reason 0x%llx", static_cast<unsigned long long>(bit));
      return text;
    }
  }
}

std::optional<int64_t> foreign_processes(const std::vector<int64_t>& processes,
                                         const std::function<bool(int64_t)>& is_ours) {
  const auto total = static_cast<int64_t>(processes.size());
  const auto ours = std::count_if(processes.begin(), processes.end(), is_ours);
  if (ours > 0) return total - ours;
  if (total >= 2) return total - 1;
  return std::nullopt;
}

NvmlReport nvml_report(const std::vector<NvmlSample>& samples, const NvmlFacts& facts,
                       const Unknowns& unknown, const std::optional<int64_t>& foreign) {
  NvmlReport report;
  EnergyObject object(unknown);
  const auto energy = energy_of(samples);
  const auto power = spread_of(samples, &NvmlSample::power_w);
  const auto reasons = reason_shares(samples);
  const auto sm_clock = spread_of(samples, &NvmlSample::sm_clock_mhz, kIdleReason);

  const double duration = samples.empty() ? 0 : samples.back().time_s - samples.front().time_s;
  object.set("energy_j", "energy_j", energy ? json(energy->joules) : json());
  object.set("method", "energy_j", energy ? json(energy->method) : json());
  object.set("duration_s", "", samples.size() < 2 ? json() : json(duration));
  object.set("samples", "", samples.size());
  object.set("mean_power_w", "power_w",
             energy && duration > 0 ? json(energy->joules / duration)
             : power                ? json(power->mean)
                                    : json());
  object.set("temperature_c", "temperature_c",
             to_json(spread_of(samples, &NvmlSample::temperature_c)));
  json clock = to_json(sm_clock);
  if (!clock.is_null()) {
    clock["limit"] = nullable(facts.max_sm_clock_mhz);
    if (clock["limit"].is_null()) {
      const auto why = facts.unknown.find("max_sm_clock_mhz");
      clock["unknown"]["limit"] = why != facts.unknown.end() ? why->second : "not asked for";
    }
  }
  object.set("sm_clock_mhz", "sm_clock_mhz", std::move(clock));
  object.set("memory_clock_mhz", "memory_clock_mhz",
             to_json(spread_of(samples, &NvmlSample::memory_clock_mhz, kIdleReason)));

  json shares;
  if (reasons) {
    shares = json::object();
    for (const auto& [bit, share] : *reasons) shares[clock_reason_name(bit)] = share;
  }
  object.set("clock_reasons", "clock_reasons", std::move(shares));

  std::optional<int64_t> used, errors;
  for (const NvmlSample& sample : samples) {
    if (sample.used_bytes) used = std::max(used.value_or(0), *sample.used_bytes);
  }
  if (!samples.empty() && samples.front().ecc_errors && samples.back().ecc_errors)
    errors = *samples.back().ecc_errors - *samples.front().ecc_errors;
  object.set("device_used_bytes", "used_bytes", nullable(used));
  object.set("ecc_errors", "ecc_errors", nullable(errors));
  object.set("foreign_processes", "processes", nullable(foreign));
  if (!foreign && unknown.count("processes") == 0)
    object.explain("foreign_processes", "the driver does not list our own process here");
  report.energy = object.take();

  if (const auto mark = throttled(reasons, sm_clock, facts)) report.marks.push_back(*mark);
  if (const auto mark = used_by_others(samples, foreign)) report.marks.push_back(*mark);
  if (errors.value_or(0) > 0) {
    report.marks.push_back({"ecc-errors", std::to_string(*errors) +
                                              " uncorrected memory errors: figures may be wrong"});
  }
  if (facts.is_virtual.value_or(false)) {
    report.marks.push_back({"shared", "a virtual GPU: others may use the same card"});
  } else if (facts.has_slices.value_or(false)) {
    report.marks.push_back({"shared",
                            "an instance of a split card (MIG): power and clocks are the "
                            "whole card's"});
  }
  return report;
}

NvmlReport empty_nvml_report(const std::string& reason) {
  NvmlReport report = nvml_report({}, {}, {}, std::nullopt);
  for (auto& [key, why] : report.energy["unknown"].items()) why = reason;
  return report;
}

}  // namespace precbench
