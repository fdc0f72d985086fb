#include "bench/result/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>

#include "bench/report/repeatability.h"
#include "bench/result/measured.h"

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
  if (!mode.support || mode.support->verdict != "emulated") return std::nullopt;
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

// Speed that changed during the comparison puts every time of it in doubt.
std::optional<Mark> drift_mark(const ResultDocument& document) {
  for (const ModeRecord& mode : document.modes) {
    const auto ratio = drift_ratio(mode);
    if (!ratio || std::max(*ratio, 1 / *ratio) <= kDriftFactor) continue;
    return Mark{"drift", fmt::format("{} took {:.2f} times as long at the end as at first",
                                     mode.mode, *ratio)};
  }
  return std::nullopt;
}

}  // namespace

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
  const std::optional<Mark> drift = drift_mark(document);
  for (ModeRecord& mode : document.modes) {
    std::erase_if(mode.marks, [](const Mark& mark) {
      return mark.id == "n=1" || mark.id == "emulated" || mark.id == "at-chance" ||
             mark.id == "debug-build" || mark.id == "drift";
    });
    for (const auto& mark :
         {single_run_mark(mode), emulated_mark(mode), chance_mark(mode, bound),
          debug_mark(document), measured_runs(mode).empty() ? std::nullopt : drift}) {
      if (mark) mode.marks.push_back(*mark);
    }
  }
}

}  // namespace precbench
