#include "bench/judge/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/judge/reference_choice.h"
#include "bench/judge/standing.h"
#include "bench/result/measured.h"
#include "bench/text/units.h"
#include "common/engines.h"

namespace precbench {
namespace {

constexpr MetricTraits kTimeToTarget = {"time_to_target",
                                        "target.time_s",
                                        "time to the target",
                                        MetricUnit::seconds,
                                        BetterWhen::lower,
                                        [](const RunRecord& run) -> std::optional<double> {
                                          return run.target ? run.target->time_s : std::nullopt;
                                        }};

std::map<int64_t, double> logarithms(const std::map<int64_t, double>& times) {
  std::map<int64_t, double> logs;
  for (const auto& [seed, time_s] : times) logs[seed] = std::log(time_s);
  return logs;
}

bool reached_by_all(const TargetStanding& one) { return one.runs > 0 && one.reached == one.runs; }

TargetStanding counted(const ModeRecord& mode) {
  TargetStanding one;
  one.mode = &mode;
  for (const RunRecord* run : measured_runs(mode)) {
    ++one.runs;
    if (run->target && run->target->is_reached) ++one.reached;
  }
  if (!reached_by_all(one)) return one;
  double sum_s = 0;
  const auto times = values_by_seed(mode, kTimeToTarget);
  for (const auto& [seed, time_s] : times) sum_s += time_s;
  if (!times.empty()) one.time_s = sum_s / static_cast<double>(times.size());
  return one;
}

void compare(TargetStanding& one, const TargetStanding& reference, double confidence) {
  one.is_refused =
      mark_against_time(*one.mode) != nullptr || mark_against_time(*reference.mode) != nullptr;
  if (!one.time_s || !reference.time_s) return;
  const auto difference =
      paired_differences(logarithms(values_by_seed(*one.mode, kTimeToTarget)),
                         logarithms(values_by_seed(*reference.mode, kTimeToTarget)));
  if (!difference) return;
  one.seeds = difference->n;
  one.ratio = std::exp(difference->mean);
  if (const auto interval = t_interval(*difference, confidence)) {
    one.interval = Interval{std::exp(interval->low), std::exp(interval->high)};
  }
}

// "1.30 times sooner", with its interval
std::string sooner_words(const TargetStanding& one) {
  return fmt::format("{:.2f} times sooner (95 % interval {:.2f} to {:.2f}; {} seeds)",
                     1 / *one.ratio, 1 / one.interval->high, 1 / one.interval->low, one.seeds);
}

}  // namespace

std::string Target::short_words() const {
  return is_perplexity ? fmt::format("perplexity {:g}", value) : fmt::format("{:g} %", 100 * value);
}

std::string Target::words() const {
  return is_perplexity ? "test " + short_words() : short_words() + " test accuracy";
}

std::optional<Target> target_in(const ResultDocument& document) {
  for (const bool is_perplexity : {false, true}) {
    const auto found =
        document.protocol.find(is_perplexity ? "target_perplexity" : "target_accuracy");
    if (found != document.protocol.end() && found->is_number()) {
      return Target{is_perplexity, found->get<double>()};
    }
  }
  return std::nullopt;
}

std::vector<TargetStanding> target_standings(const ResultDocument& document,
                                             const ModeRecord& reference) {
  std::vector<TargetStanding> found;
  for (const ModeRecord& mode : document.modes) {
    if (engine_of_row(mode.mode) != engine_of_row(reference.mode)) continue;
    if (!measured_runs(mode).empty()) found.push_back(counted(mode));
  }
  const auto is_reference = [&](const TargetStanding& one) { return one.mode == &reference; };
  const auto base = std::find_if(found.begin(), found.end(), is_reference);
  if (base == found.end()) return found;
  const TargetStanding against = *base;
  const auto comparisons = static_cast<double>(std::max<size_t>(found.size() - 1, 1));
  for (TargetStanding& one : found) {
    if (!is_reference(one)) compare(one, against, 1 - (1 - kConfidence) / comparisons);
  }
  return found;
}

std::string target_note(const ModeRecord& mode) {
  const TargetStanding one = counted(mode);
  const std::vector<const RunRecord*> runs = measured_runs(mode);
  if (runs.empty() || !runs.front()->target) return "";
  const TargetRecord& asked = *runs.front()->target;
  const std::string target =
      Target{asked.perplexity.has_value(), asked.perplexity.value_or(asked.accuracy.value_or(0))}
          .short_words();
  if (one.reached == 0) return target + " not reached";
  if (!reached_by_all(one)) {
    return fmt::format("{} in {} of {} runs", target, one.reached, one.runs);
  }
  int64_t least = runs.front()->target->epoch.value_or(0);
  int64_t most = least;
  for (const RunRecord* run : runs) {
    least = std::min(least, run->target->epoch.value_or(least));
    most = std::max(most, run->target->epoch.value_or(most));
  }
  return least == most ? fmt::format("{} after {} epoch{}", target, most, most == 1 ? "" : "s")
                       : fmt::format("{} after {} to {} epochs", target, least, most);
}

TargetAdvice target_advice(const ResultDocument& document, const ModeRecord& reference) {
  TargetAdvice out;
  const std::string target = target_in(document)->words();
  const std::vector<TargetStanding> all = target_standings(document, reference);
  const TargetStanding* first = nullptr;
  const TargetStanding* base = nullptr;
  bool is_single = false, is_refused = false;
  for (const TargetStanding& one : all) {
    if (one.mode == &reference) base = &one;
    if (one.is_sooner() && (first == nullptr || *one.ratio < *first->ratio)) first = &one;
    is_single |= one.ratio && !one.interval;
    is_refused |= one.ratio && one.is_refused;
  }
  const std::string name = name_in_text(reference);
  if (first != nullptr) {
    out.winner = first->mode->mode;
    out.sentences.push_back(fmt::format("Use {} here: it gets to {} {} than {} ({} against {}).",
                                        name_in_text(*first->mode), target, sooner_words(*first),
                                        name, duration_text(*first->time_s),
                                        duration_text(*base->time_s)));
  } else if (base != nullptr && base->time_s) {
    out.winner = reference.mode;
    out.sentences.push_back(fmt::format("No mode gets to {} clearly sooner than {} ({}).{}", target,
                                        name, duration_text(*base->time_s),
                                        is_refused  ? " The times are marked, see above."
                                        : is_single ? " One seed decides nothing: use --seeds "
                                                      "42,43,44."
                                                    : ""));
  }
  for (const TargetStanding& one : all) {
    if (reached_by_all(one)) continue;
    const std::string who = name_in_text(*one.mode);
    out.sentences.push_back(
        one.reached == 0
            ? fmt::format("{} did not get to {}.", who, target)
            : fmt::format("{} got to {} in {} of {} runs: its time cannot be compared.", who,
                          target, one.reached, one.runs));
  }
  if (base != nullptr && base->time_s) return out;
  for (const TargetStanding& one : all) {
    if (!one.time_s) continue;
    if (out.winner.empty()) out.winner = one.mode->mode;
    out.sentences.push_back(
        fmt::format("{} got there after {}.", name_in_text(*one.mode), duration_text(*one.time_s)));
  }
  return out;
}

}  // namespace precbench
