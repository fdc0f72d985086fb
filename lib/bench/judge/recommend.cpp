#include "bench/judge/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/judge/advice_words.h"
#include "bench/judge/engines_compared.h"
#include "bench/judge/judge.h"
#include "bench/judge/marks.h"
#include "bench/judge/reference_choice.h"
#include "bench/judge/standing.h"
#include "bench/judge/target.h"
#include "bench/result/numeric_notes.h"
#include "bench/text/escape.h"
#include "bench/text/units.h"
#include "common/engines.h"

namespace precbench {
namespace {

// A mode that may be recommended: what it has against the reference.
struct Candidate : Standing {
  bool is_faster() const { return speed.verdict == Verdict::better; }
  bool loses_accuracy() const { return accuracy.verdict == Verdict::worse; }
};

std::string memory_words(const MetricComparison& memory) {
  if (memory.verdict != Verdict::better && memory.verdict != Verdict::worse) {
    return "the same memory";
  }
  return fmt::format("{:.0f} % {} memory", 100 * std::abs(*memory.change),
                     *memory.change < 0 ? "less" : "more");
}

// With several seeds the difference is one of this test set; where another one of its size could
// turn it round, or hides it, its size is told.
std::string accuracy_sentence(const MetricComparison& accuracy,
                              const std::optional<int64_t>& samples) {
  if (!accuracy.change) return "Accuracy: not known for both.";
  const double noise = one_seed_bound(accuracy.base->mean, accuracy.current->mean, samples);
  const bool is_of_this_set = samples && noise > kOneSeedAccuracy &&
                              std::abs(*accuracy.change) < noise &&
                              accuracy.verdict != Verdict::same;
  std::string seeds = accuracy.is_single ? "one seed" : fmt::format("n={} seeds", accuracy.seeds);
  if (is_of_this_set) {
    seeds += fmt::format(", {}{} test samples", accuracy.is_single ? "" : "on these ", *samples);
  }
  std::string points = points_text(*accuracy.change);
  if (*accuracy.change == 0 && accuracy.verdict == Verdict::same) points = "the same";
  if (accuracy.verdict == Verdict::inconclusive) points += ", undecided";
  if (accuracy.verdict == Verdict::same && !accuracy.is_single) points += ", within seed noise";
  return "Accuracy: " + points + " (" + seeds + ").";
}

// Fastest first; of those that are as fast within what counts as a change, the one with the least
// memory; of equals the one asked for first.
const Candidate* best_of(const std::vector<Candidate>& candidates) {
  const auto ratio = [](const Candidate& one) { return 1 + *one.speed.change; };
  const auto is_eligible = [](const Candidate& one) {
    return one.is_faster() && !one.loses_accuracy();
  };
  const Candidate* fastest = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!is_eligible(candidate)) continue;
    if (fastest == nullptr || ratio(candidate) < ratio(*fastest)) fastest = &candidate;
  }
  const MetricTraits& memory = *find_metric("memory");
  const Candidate* best = fastest;
  for (const Candidate& candidate : candidates) {
    if (!is_eligible(candidate) || ratio(candidate) >= (1 + kTimeLimit) * ratio(*fastest)) continue;
    const auto judged = judge({best->mode, candidate.mode, kMemoryLimit}, memory);
    if (judged.verdict == Verdict::better) best = &candidate;
  }
  return best;
}

// Who is short of memory may pay for it with time, up to this factor.
constexpr double kDearestMemory = 2.0;

const Candidate* smallest_of(const std::vector<Candidate>& candidates) {
  const Candidate* smallest = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.memory.verdict != Verdict::better || candidate.loses_accuracy()) continue;
    if (candidate.speed.change && 1 + *candidate.speed.change > kDearestMemory) continue;
    if (smallest == nullptr || *candidate.memory.change < *smallest->memory.change) {
      smallest = &candidate;
    }
  }
  return smallest;
}

// "at about the same speed", "and is 1.10 ± 0.02 times slower", ...
std::string speed_of_smaller(const MetricComparison& speed) {
  if (!speed.change) return "";
  if (std::abs(*speed.change) < kTimeLimit) return " at about the same speed";
  const std::string words = factor_words(speed);
  if (speed.verdict == Verdict::worse) return ", and is " + words;
  return ", and was " + words + ", which may be noise";
}

// A verdict that holds although a side's times were disturbed.
void describe_disturbed(const Candidate& candidate, const ModeRecord& reference,
                        Recommendation& out) {
  if (!candidate.speed.least_change) return;
  const ModeRecord& marked = mark_against_time(reference) != nullptr ? reference : *candidate.mode;
  const Mark& mark = *mark_against_time(marked);
  const double least = 1 + *candidate.speed.least_change;
  out.sentences.push_back(fmt::format(
      "{} is marked {} ({}): {} is at least {:.1f} times {} all the same.", name_in_text(marked),
      terminal_text(mark.id), shortened(terminal_text(mark.why)), name_in_text(*candidate.mode),
      std::max(least, 1 / least), least < 1 ? "faster" : "slower"));
}

void describe_best(const Candidate& best, const ModeRecord& reference,
                   const std::optional<int64_t>& samples, Recommendation& out) {
  std::string sentence = "Use " + name_in_text(*best.mode) + " here: " + factor_words(best.speed) +
                         " than " + name_in_text(reference);
  if (best.memory.change) sentence += ", " + memory_words(best.memory);
  sentence +=
      " (" + runs_words(*best.mode, reference) + "). " + accuracy_sentence(best.accuracy, samples);
  out.sentences.push_back(sentence);
  out.mode = best.mode->mode;
}

void describe_none(const std::vector<Candidate>& candidates, const ModeRecord& reference,
                   const std::optional<int64_t>& samples, Recommendation& out) {
  const std::string name = name_in_text(reference);
  const bool any_single = std::any_of(candidates.begin(), candidates.end(), [](const auto& c) {
    return c.speed.change && c.speed.is_single && c.speed.verdict == Verdict::inconclusive;
  });
  out.sentences.push_back("No mode is clearly faster than " + name + " here: stay with " + name +
                          "." + (any_single ? " For closer figures use --repeats 5." : ""));
  out.mode = reference.mode;
  if (const Candidate* smallest = smallest_of(candidates)) {
    out.sentences.push_back("If memory is short: " + name_in_text(*smallest->mode) + " needs " +
                            memory_words(smallest->memory) + speed_of_smaller(smallest->speed) +
                            ". " + accuracy_sentence(smallest->accuracy, samples));
  }
}

// A faster mode that is not recommended because it costs accuracy deserves a word.
void describe_losers(const std::vector<Candidate>& candidates, const ModeRecord& reference,
                     Recommendation& out) {
  for (const Candidate& candidate : candidates) {
    if (!candidate.is_faster() || !candidate.loses_accuracy()) continue;
    out.sentences.push_back(
        fmt::format("{} is {} than {}, but its test accuracy is {:.1f} points lower.",
                    name_in_text(*candidate.mode), factor_words(candidate.speed),
                    name_in_text(reference), -100 * *candidate.accuracy.change));
  }
}

bool is_cpu(const ResultDocument& document) {
  return text_at(document.environment, {"device", "kind"}) == "cpu";
}

// Times that say nothing leave memory and accuracy as they are.
void describe_untimed(const std::vector<Candidate>& refused, const ModeRecord& reference,
                      Recommendation& out) {
  const ModeRecord* marked = &reference;
  for (const Candidate& one : refused) {
    if (mark_against_time(*marked) == nullptr) marked = one.mode;
  }
  const Mark& mark = *mark_against_time(*marked);
  out.sentences.push_back("No recommendation: the times cannot be judged, " +
                          name_in_text(*marked) + " is marked " + terminal_text(mark.id) + " (" +
                          shortened(terminal_text(mark.why)) + ").");
  out.sentences.push_back(std::string(traits_of(mark).remedy) + ", and run it again.");
  std::string saving;
  for (const Candidate& one : refused) {
    if (one.memory.verdict != Verdict::better) continue;
    saving += (saving.empty() ? "" : ", ") + name_in_text(*one.mode) + " needs " +
              memory_words(one.memory);
  }
  if (!saving.empty())
    out.sentences.push_back("Memory is counted and holds all the same: " + saving + ".");
}

int64_t rows_of_engine(const ResultDocument& document, const ModeRecord& reference) {
  return std::count_if(document.modes.begin(), document.modes.end(), [&](const ModeRecord& mode) {
    return engine_of_row(mode.mode) == engine_of_row(reference.mode);
  });
}

// "Each mode at its own largest batch: 32-true 700, bf16-true 1401."
void tell_own_batches(const ResultDocument& document, Recommendation& out) {
  std::string batches;
  for (const ModeRecord& mode : document.modes) {
    if (!mode.own_batch) continue;
    batches += (batches.empty() ? "" : ", ") + name_in_text(mode) + " " +
               std::to_string(mode.own_batch->batch_size);
  }
  if (!batches.empty())
    out.sentences.push_back("Each mode at the largest batch that fits it: " + batches + ".");
}

void compare_modes(const ResultDocument& document, const ModeRecord& reference,
                   Recommendation& out) {
  if (has_mark(reference, "too-small")) {
    out.sentences.push_back(
        "No recommendation: the workload is too small for this device, so launches were timed and "
        "not precision. Use a larger model or --batch-size, or --config gpu-quick.");
    return;
  }
  const std::optional<int64_t> samples = data_sizes(document).test;
  std::vector<Candidate> candidates, refused;
  for (const Standing& standing : standings(document, reference)) {
    if (!is_usable(*standing.mode)) continue;
    // Which mode to use is asked within one engine; the table has the other's rows beside it.
    if (engine_of_row(standing.mode->mode) != engine_of_row(reference.mode)) continue;
    (standing.speed.is_refused ? refused : candidates).push_back({standing});
  }
  if (candidates.empty() && refused.empty()) {
    const std::string name = name_in_text(reference);
    const bool is_alone = rows_of_engine(document, reference) == 1;
    if (!is_alone) out.mode = reference.mode;
    out.sentences.push_back(is_alone
                                ? "Only " + name + " was run: there is nothing to compare."
                                : "Use " + name + " here: no other mode gave a usable result.");
    return;
  }
  if (candidates.empty()) return describe_untimed(refused, reference, out);
  for (const Candidate& one : refused) {
    const Mark* own = mark_against_time(*one.mode);
    const Mark& mark = own != nullptr ? *own : *mark_against_time(reference);
    out.sentences.push_back(name_in_text(*one.mode) +
                            " is left out: " + (own != nullptr ? "it" : name_in_text(reference)) +
                            " is marked " + terminal_text(mark.id) + ". " +
                            std::string(traits_of(mark).remedy) + ", and run it again.");
  }
  const Candidate* best = best_of(candidates);
  if (best != nullptr) {
    describe_best(*best, reference, samples, out);
    describe_disturbed(*best, reference, out);
  } else {
    describe_none(candidates, reference, samples, out);
    for (const Candidate& candidate : candidates) describe_disturbed(candidate, reference, out);
  }
  describe_losers(candidates, reference, out);
  for (const Candidate& candidate : candidates) {
    const std::string note = memory_note(*candidate.mode, reference);
    if (!note.empty()) out.sentences.push_back(terminal_text(note) + ".");
  }
}

}  // namespace

std::string code_for(const std::string& mode, int64_t devices) {
  const ModeTraits* traits = find_mode(mode_of_row(mode));
  if (traits == nullptr) return "";
  if (!traits->code.empty()) return std::string(traits->code);
  const std::string together =
      devices > 1 ? fmt::format(", devices={}, strategy=\"ddp\"", devices) : "";
  return fmt::format("Trainer(precision=\"{0}\"{1}) or Fabric(precision=\"{0}\"{1})", traits->name,
                     together);
}

Recommendation recommend(const ResultDocument& document) {
  Recommendation out;
  const ReferenceChoice choice = choose_reference(document);
  if (!choice.sentence.empty()) out.sentences.push_back(choice.sentence);
  tell_own_batches(document, out);
  if (choice.mode != nullptr && target_in(document)) {
    TargetAdvice advice = target_advice(document, *choice.mode);
    std::move(advice.sentences.begin(), advice.sentences.end(), std::back_inserter(out.sentences));
    out.mode = advice.winner;
  } else if (choice.mode != nullptr) {
    compare_modes(document, *choice.mode, out);
  }
  if (const std::string told = engines_compared(document); !told.empty()) {
    out.sentences.push_back(told);
  }
  if (!out.mode.empty()) out.code = code_for(out.mode, devices_of(document));
  if (is_cpu(document)) {
    const ModeRecord* chosen = find_mode_record(document, out.mode);
    const ModeTraits* traits = find_mode(out.mode);
    if (chosen != nullptr && traits != nullptr && !traits->fabric_on_cpu.empty() &&
        chosen->effective_mode == chosen->mode) {
      out.sentences.push_back(
          fmt::format("On a CPU Lightning runs {} where {} is asked for; real fp16 was measured "
                      "here.",
                      traits->fabric_on_cpu, traits->name));
    }
    out.closing = "This says nothing about a GPU: run it there too.";
  }
  return out;
}

std::vector<std::string> summary_lines(const Recommendation& recommendation) {
  std::vector<std::string> lines = recommendation.sentences;
  if (!recommendation.code.empty()) lines.push_back("In your code: " + recommendation.code);
  if (!recommendation.closing.empty()) lines.push_back(recommendation.closing);
  return lines;
}

}  // namespace precbench
