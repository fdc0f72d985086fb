#include "bench/judge/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "bench/judge/repeatability.h"
#include "bench/platform/contention.h"
#include "bench/result/measured.h"
#include "bench/stats/significance.h"

namespace precbench {
namespace {

// A dead model passes one time in a thousand; a model that learned anything at all is far above the
// bound (10 classes, 10,000 samples: 10.94 %).
constexpr double kChanceConfidence = 0.999;

// Two single runs with 5 % noise each differ by this factor in one of twenty comparisons, with 2 %
// in none.
constexpr double kDriftFactor = 1.15;

std::optional<Mark> single_run_mark(const ModeRecord& mode) {
  if (measured_runs(mode).size() != 1) return std::nullopt;
  return Mark{"n=1", "one run: its own noise is not known; use --repeats or --seeds"};
}

std::optional<Mark> emulated_mark(const ModeRecord& mode) {
  if (!mode.support || mode.support->verdict != SupportLevel::emulated) return std::nullopt;
  return Mark{"emulated", mode.support->why.empty() ? "computed in another type and converted"
                                                    : mode.support->why};
}

std::optional<Mark> chance_mark(const ModeRecord& mode, const std::optional<double>& bound) {
  if (!bound) return std::nullopt;
  for (const RunRecord* run : measured_runs(mode)) {
    if (run->test_accuracy && *run->test_accuracy <= *bound) {
      return Mark{"at-chance",
                  fmt::format("test accuracy {:.2f} % is within {:.2f} %, what guessing gives",
                              100 * *run->test_accuracy, 100 * *bound)};
    }
  }
  return std::nullopt;
}

std::optional<Mark> debug_mark(const ResultDocument& document) {
  const auto build = text_at(document.tool, {"build_type"});
  if (build != "Debug") return std::nullopt;
  return Mark{"debug-build", "measured by a debug build of precbench"};
}

// A straight line through the times of all runs that a file without a trend shows once in a
// thousand times...
constexpr double kTrendError = 0.001;
// ... and that moves them by as much as a time rule usually looks for, from the first run to the
// last.
constexpr double kTrendSpan = 0.05;

// Speed that changed during the comparison puts every time of it in doubt.
std::optional<Mark> drift_mark(const ResultDocument& document) {
  for (const ModeRecord& mode : document.modes) {
    const auto ratio = drift_ratio(mode);
    if (!ratio || std::max(*ratio, 1 / *ratio) <= kDriftFactor) continue;
    return Mark{
        "drift",
        fmt::format("{} took {:.2f} times as long at the end as at first", mode.mode, *ratio),
        1 - 1 / std::max(*ratio, 1 / *ratio)};
  }
  return std::nullopt;
}

// Times that rise or fall with the order of the runs: their spread is no noise.
std::optional<Mark> trend_mark(const ResultDocument& document) {
  std::vector<Point> points;
  double first = 0, last = 0;
  for (size_t group = 0; group < document.modes.size(); ++group) {
    for (const RunRecord* run : measured_runs(document.modes[group])) {
      const auto time = find_metric("time")->value(*run);
      if (!time || !(*time > 0)) continue;
      const auto order = static_cast<double>(run->order_index);
      first = points.empty() ? order : std::min(first, order);
      last = points.empty() ? order : std::max(last, order);
      points.push_back({group, order, std::log(*time)});
    }
  }
  const auto trend = common_trend(points);
  if (!trend || trend->error > kTrendError) return std::nullopt;
  const double span = trend->slope * (last - first);
  if (std::abs(span) < std::log1p(kTrendSpan)) return std::nullopt;
  return Mark{"trend",
              fmt::format("times {} steadily, by {:.0f} % from the first run to the last",
                          span > 0 ? "rose" : "fell", 100 * std::abs(std::expm1(span))),
              1 - std::exp(-std::abs(span))};
}

std::optional<double> number_at(const json& object, const char* group, const char* key) {
  const auto member = object.find(group);
  if (member == object.end() || !member->is_object()) return std::nullopt;
  const auto value = member->find(key);
  return value != member->end() && value->is_number() ? std::optional(value->get<double>())
                                                      : std::nullopt;
}

// A run on all processors is held up whenever others use one of them, a run on fewer only when
// those that are left are not enough: so many processors of theirs at once cost it time.
std::optional<double> processors_that_disturb(const ResultDocument& document) {
  const auto all = number_at(document.environment, "cpu", "logical_cores");
  const auto threads = number_at(document.environment, "cpu", "threads");
  if (!all || !(*all >= 1)) return std::nullopt;
  return std::max(1.0, *all - std::max(threads.value_or(*all), 1.0) + 1);
}

// Every second that others used `disturbing` processors may have cost one, and all of them may lie
// in the part that is timed: the clean time is that much shorter at most. A GPU that others used
// has no such bound.
std::optional<double> lost_to_others(const RunRecord& run, const std::optional<double>& processors,
                                     const std::optional<double>& disturbing) {
  const auto watched = run.energy.find("samples");
  const bool has_gpu = watched != run.energy.end() && watched->is_number() && *watched != 0;
  if (has_gpu && run.energy.value("foreign_processes", json()) != 0) return std::nullopt;
  if (!run.others_share || !processors || !disturbing || !run.time.total_s) return std::nullopt;
  if (*run.others_share <= kBusyShare) return 0;
  const double timed = *run.time.total_s;
  const double lasted = timed + run.time.startup_s.value_or(0) + run.time.data_s.value_or(0);
  const double lost = *run.others_share * *processors / *disturbing * lasted / timed;
  return lost < 1 ? std::optional(lost) : std::nullopt;
}

// At full clocks all of it would have taken that much less at most.
std::optional<double> lost_to_clocks(const RunRecord& run) {
  double kept = 1;
  for (const char* clock : {"sm_clock_mhz", "memory_clock_mhz"}) {
    const auto mean = number_at(run.energy, clock, "mean");
    auto highest = number_at(run.energy, clock, "limit");
    if (!highest) highest = number_at(run.energy, clock, "max");
    if (!mean || !highest || !(*mean > 0) || *highest < *mean) return std::nullopt;
    kept = std::min(kept, *mean / *highest);
  }
  return 1 - kept;
}

// Of the mode's time in all its runs.
template <typename LostOfRun>
std::optional<double> lost_of(const ModeRecord& mode, const LostOfRun& lost_of_run) {
  double lost = 0, total = 0;
  for (const RunRecord* run : measured_runs(mode)) {
    const std::optional<double> share = lost_of_run(*run);
    if (!share) return std::nullopt;
    const double time = run->time.total_s.value_or(0);
    lost += *share * time;
    total += time;
  }
  return total > 0 ? std::optional(lost / total) : std::nullopt;
}

void bound_marks(const ResultDocument& document, ModeRecord& mode) {
  const auto processors = number_at(document.environment, "cpu", "logical_cores");
  const auto disturbing = processors_that_disturb(document);
  for (Mark& mark : mode.marks) {
    if (mark.id == "busy") {
      mark.lost = lost_of(
          mode, [&](const RunRecord& run) { return lost_to_others(run, processors, disturbing); });
    } else if (mark.id == "throttled") {
      mark.lost = lost_of(mode, lost_to_clocks);
    }
  }
}

}  // namespace

const MarkTraits& traits_of(const Mark& mark) {
  static constexpr MarkTraits kUnknown = {.id = ""};
  const auto* found = std::find_if(std::begin(kMarks), std::end(kMarks),
                                   [&](const MarkTraits& row) { return row.id == mark.id; });
  return found == std::end(kMarks) ? kUnknown : *found;
}

double chance_bound(int64_t classes, int64_t samples) {
  using boost::math::binomial_distribution;
  // The quantile is not interpolated by default: it is a whole number of hits, rounded outwards.
  const binomial_distribution<> hits(static_cast<double>(samples),
                                     1.0 / static_cast<double>(classes));
  return boost::math::quantile(hits, kChanceConfidence) / static_cast<double>(samples);
}

std::optional<double> chance_bound(const ResultDocument& document) {
  const DataSizes sizes = data_sizes(document);
  if (!sizes.classes || !sizes.test || *sizes.classes < 2) return std::nullopt;
  return chance_bound(*sizes.classes, *sizes.test);
}

void assign_marks(ResultDocument& document) {
  const std::optional<double> bound = chance_bound(document);
  const std::optional<Mark> drift = drift_mark(document), trend = trend_mark(document);
  for (ModeRecord& mode : document.modes) {
    std::erase_if(mode.marks, [](const Mark& mark) { return traits_of(mark).is_of_document; });
    const bool has_runs = !measured_runs(mode).empty();
    for (const auto& mark :
         {single_run_mark(mode), emulated_mark(mode), chance_mark(mode, bound),
          debug_mark(document), has_runs ? drift : std::nullopt, has_runs ? trend : std::nullopt}) {
      if (mark) mode.marks.push_back(*mark);
    }
    bound_marks(document, mode);
  }
}

}  // namespace precbench
