#include "bench/judge/standing.h"

#include <algorithm>

#include "bench/judge/marks.h"

namespace precbench {

const Mark* mark_against_time(const ModeRecord& mode) {
  const auto found = std::find_if(mode.marks.begin(), mode.marks.end(), [](const Mark& mark) {
    return traits_of(mark).on_times != OnTimes::nothing;
  });
  return found == mode.marks.end() ? nullptr : &*found;
}

bool has_own_batches(const ResultDocument& document) {
  return std::any_of(document.modes.begin(), document.modes.end(),
                     [](const ModeRecord& mode) { return mode.own_batch.has_value(); });
}

const MetricTraits& speed_metric(const ResultDocument& document) {
  return has_own_batches(document) ? kSampleTime : *find_metric("step_time");
}

std::vector<Standing> standings(const ResultDocument& document, const ModeRecord& reference) {
  // Beyond this, total times and step times tell different stories and a note says why.
  constexpr double kTotalsDiffer = 1.10;
  std::vector<Standing> found;
  for (const ModeRecord& mode : document.modes) {
    if (&mode != &reference) found.push_back({&mode, {}, {}, {}, std::nullopt});
  }
  const JudgeOptions options{false, false, data_sizes(document)};
  const auto judged = [&](const MetricTraits& metric) {
    std::vector<ModePair> pairs;
    for (const Standing& one : found)
      pairs.push_back({&reference, one.mode, default_limit(metric)});
    return judge(pairs, metric, options);
  };
  const auto steps = judged(speed_metric(document)), totals = judged(*find_metric("time")),
             memory = judged(*find_metric("memory")),
             accuracy = judged(*find_metric("test_accuracy"));
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
