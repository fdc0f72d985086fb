// Which mode gets to --target-accuracy or --target-perplexity first: the question behind the speed
// of a step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/document.h"
#include "bench/stats/estimate.h"

namespace precbench {

// What was asked for: a share of the test set from below, or a perplexity of it from above.
struct Target {
  bool is_perplexity = false;
  double value = 0;
  std::string short_words() const;  // "87 %", "perplexity 9.5"
  std::string words() const;        // "87 % test accuracy", "test perplexity 9.5"
};

// Nothing where no target was set.
std::optional<Target> target_in(const ResultDocument& document);

struct TargetStanding {
  const ModeRecord* mode = nullptr;
  int64_t reached = 0, runs = 0;  // of the runs that count
  // Where every run reached it: the mean time over seeds, and its ratio to the reference's, over
  // the seeds that both have (repeats of a seed averaged): geometric mean, Student's interval of
  // the paired differences of logarithms. How many epochs it takes differs between seeds, so that
  // one seed has no interval.
  std::optional<double> time_s;
  std::optional<double> ratio;
  std::optional<Interval> interval;
  int64_t seeds = 0;
  bool is_refused = false;  // a mark forbids verdicts on time

  bool is_sooner() const { return !is_refused && interval && interval->high < 1; }
};

// All rows with runs that count, the reference's included (it has no ratio). Of several
// comparisons less is left to chance: the intervals are those of all of them at once.
std::vector<TargetStanding> target_standings(const ResultDocument& document,
                                             const ModeRecord& reference);

// "87 % after 2 epochs", "87 % in 2 of 3 runs", "87 % not reached"; empty without a target.
std::string target_note(const ModeRecord& mode);

// The answer, in sentences; `winner` is the mode to use.
struct TargetAdvice {
  std::vector<std::string> sentences;
  std::string winner;
};
TargetAdvice target_advice(const ResultDocument& document, const ModeRecord& reference);

}  // namespace precbench
