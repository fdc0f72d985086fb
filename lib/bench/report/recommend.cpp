#include "bench/report/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/report/block.h"
#include "bench/report/escape.h"
#include "bench/report/units.h"
#include "bench/result/numeric_notes.h"

namespace precbench {
namespace {

std::string name_in_text(const ModeRecord& mode) { return terminal_text(mode.mode); }

bool is_usable(const ModeRecord& mode) {
  return mode.status == Status::ok && !measured_runs(mode).empty() && !has_mark(mode, "at-chance");
}

// What a mode that was asked for did instead of serving as the reference.
std::string why_not_reference(const ResultDocument& document, const ModeRecord& mode) {
  const std::string name = name_in_text(mode);
  if (has_mark(mode, "at-chance")) return name + " learned nothing (test accuracy is at chance)";
  if (mode.status == Status::oom) {
    const auto batch = document.protocol.find("batch_size");
    const bool known = batch != document.protocol.end() && batch->is_number_integer();
    return name + " does not fit" +
           (known ? fmt::format(" at batch {}", batch->get<int64_t>()) : " in memory");
  }
  if (mode.status == Status::unsupported) return name + " is not supported here";
  if (mode.status == Status::skipped) return name + " was skipped";
  if (mode.status == Status::timeout) return name + " timed out";
  if (mode.status == Status::diverged) return name + " diverged";
  return name + " failed";
}

struct Candidate {
  const ModeRecord* mode;
  std::optional<SpeedVerdict> speed;
  std::optional<MemoryVerdict> memory;
  std::optional<AccuracyVerdict> accuracy;
  std::optional<int64_t> test_samples;

  bool is_faster() const { return speed && speed->decision == Decision::better; }
  bool needs_less_memory() const { return memory && memory->decision == Decision::better; }
  bool loses_accuracy() const { return accuracy && accuracy->decision == Decision::worse; }
};

// "3.7 times faster than 32-true"; with repeats "2.08 ± 0.02 times faster than 32-true"
std::string speed_words(const SpeedVerdict& speed, const std::string& reference) {
  const double factor = std::max(speed.time.ratio, 1 / speed.time.ratio);
  const char* direction = speed.time.ratio < 1 ? "faster" : "slower";
  if (!speed.time.error)
    return fmt::format("{:.1f} times {} than {}", factor, direction, reference);
  const double error = factor * *speed.time.error / speed.time.ratio;
  return fmt::format("{:.2f} ± {:.2f} times {} than {}", factor, error, direction, reference);
}

std::string memory_words(const MemoryVerdict& memory) {
  if (memory.decision == Decision::undecided) return "the same memory";
  const double percent = 100 * std::abs(memory.ratio - 1);
  return fmt::format("{:.0f} % {} memory", percent, memory.ratio < 1 ? "less" : "more");
}

// With several seeds the difference is one of this test set; where another one of its size could
// turn it round, its size is told.
std::string seeds_words(const AccuracyVerdict& accuracy, const std::optional<int64_t>& samples) {
  const bool is_of_this_set = accuracy.decision != Decision::undecided && samples &&
                              std::abs(accuracy.difference.mean) < accuracy.test_set_noise;
  return fmt::format("(n={} seeds{})", accuracy.difference.n,
                     is_of_this_set ? fmt::format(", on these {} test samples", *samples) : "");
}

std::string accuracy_sentence(const Candidate& candidate) {
  const std::optional<AccuracyVerdict>& accuracy = candidate.accuracy;
  if (!accuracy) return "Accuracy: not known for both.";
  const std::string points = points_text(accuracy->difference.mean);
  if (!accuracy->interval) {
    return accuracy->decision == Decision::undecided ? "Accuracy: undecided."
                                                     : "Accuracy: " + points + " (one seed).";
  }
  const std::string n = seeds_words(*accuracy, candidate.test_samples);
  return accuracy->decision == Decision::undecided
             ? "Accuracy: " + points + ", within seed noise " + n + "."
             : "Accuracy: " + points + " " + n + ".";
}

std::string runs_words(const ModeRecord& mode, const ModeRecord& reference) {
  const size_t runs = measured_runs(mode).size();
  const size_t reference_runs = measured_runs(reference).size();
  if (runs == 1 && reference_runs == 1) return "one run each";
  if (runs == reference_runs) return fmt::format("{} runs each", runs);
  return fmt::format("{} runs against {}", runs, reference_runs);
}

// Fastest first; of those that single or repeated runs cannot tell from the fastest, the one with
// the least memory; of equals the one asked for first.
const Candidate* best_of(const std::vector<Candidate>& candidates) {
  const auto faster = [](const Candidate& a, const Candidate& b) {
    return a.speed->time.ratio < b.speed->time.ratio;
  };
  const Candidate* fastest = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!candidate.is_faster() || candidate.loses_accuracy()) continue;
    if (fastest == nullptr || faster(candidate, *fastest)) fastest = &candidate;
  }
  const Candidate* best = fastest;
  for (const Candidate& candidate : candidates) {
    if (fastest == nullptr || !candidate.is_faster() || candidate.loses_accuracy()) continue;
    const auto against_fastest = speed_verdict(*candidate.mode, *fastest->mode);
    const bool ties = against_fastest && against_fastest->decision == Decision::undecided;
    const auto memory = memory_verdict(*candidate.mode, *best->mode);
    if (ties && memory && memory->decision == Decision::better) best = &candidate;
  }
  return best;
}

const Candidate* smallest_of(const std::vector<Candidate>& candidates) {
  const Candidate* smallest = nullptr;
  for (const Candidate& candidate : candidates) {
    const bool is_slower = candidate.speed && candidate.speed->decision == Decision::worse;
    if (!candidate.needs_less_memory() || is_slower || candidate.loses_accuracy()) continue;
    if (smallest == nullptr || candidate.memory->ratio < smallest->memory->ratio) {
      smallest = &candidate;
    }
  }
  return smallest;
}

void describe_best(const Candidate& best, const ModeRecord& reference, Recommendation& out) {
  std::string sentence = "Use " + name_in_text(*best.mode) +
                         " here: " + speed_words(*best.speed, name_in_text(reference));
  if (best.memory) sentence += ", " + memory_words(*best.memory);
  sentence += " (" + runs_words(*best.mode, reference) + "). " + accuracy_sentence(best);
  out.sentences.push_back(sentence);
  out.mode = best.mode->mode;
}

void describe_none(const std::vector<Candidate>& candidates, const ModeRecord& reference,
                   bool is_only_mode, Recommendation& out) {
  const std::string name = name_in_text(reference);
  if (candidates.empty()) {
    if (is_only_mode) {
      out.sentences.push_back("Only " + name + " was run: there is nothing to compare.");
    } else {
      out.sentences.push_back("Use " + name + " here: no other mode gave a usable result.");
      out.mode = reference.mode;
    }
    return;
  }
  const bool any_single = std::any_of(candidates.begin(), candidates.end(), [](const auto& c) {
    return c.speed && c.speed->is_single_run && c.speed->decision == Decision::undecided;
  });
  out.sentences.push_back("No mode is clearly faster than " + name + " here: stay with " + name +
                          "." + (any_single ? " For closer figures use --repeats 5." : ""));
  out.mode = reference.mode;
  if (const Candidate* smallest = smallest_of(candidates)) {
    out.sentences.push_back("If memory is short: " + name_in_text(*smallest->mode) + " needs " +
                            memory_words(*smallest->memory) +
                            (smallest->speed ? " at about the same speed. " : ". ") +
                            accuracy_sentence(*smallest));
  }
}

// A faster mode that is not recommended because it costs accuracy deserves a word.
void describe_losers(const std::vector<Candidate>& candidates, const ModeRecord& reference,
                     Recommendation& out) {
  for (const Candidate& candidate : candidates) {
    if (!candidate.is_faster() || !candidate.loses_accuracy()) continue;
    out.sentences.push_back(fmt::format("{} is {}, but its test accuracy is {:.1f} points lower.",
                                        name_in_text(*candidate.mode),
                                        speed_words(*candidate.speed, name_in_text(reference)),
                                        -100 * candidate.accuracy->difference.mean));
  }
}

bool is_cpu(const ResultDocument& document) {
  return text_at(document.environment, {"device", "kind"}) == "cpu";
}

// The reference that the user wanted, whatever became of it: --reference, else 32-true if it was
// asked for, else the first mode.
const ModeRecord* wanted_reference(const ResultDocument& document) {
  const auto named = text_at(document.invocation, {"config", "reference", "value"});
  for (const std::string& name : {named.value_or(""), std::string("32-true")}) {
    if (const ModeRecord* mode = find_mode_record(document, name)) return mode;
  }
  return document.modes.empty() ? nullptr : &document.modes.front();
}

// The mode to compare with and, if it is not the one that was wanted, a sentence that says so.
const ModeRecord* usable_reference(const ResultDocument& document, Recommendation& out) {
  const ModeRecord* chosen = find_mode_record(document, document.reference);
  if (chosen == nullptr || !is_usable(*chosen)) {
    const auto first = std::find_if(document.modes.begin(), document.modes.end(), is_usable);
    if (first == document.modes.end()) return nullptr;
    chosen = &*first;
  }
  const ModeRecord* wanted = wanted_reference(document);
  if (wanted != nullptr && wanted != chosen && !is_usable(*wanted)) {
    const bool is_memory = wanted->status == Status::oom;
    out.sentences.push_back(why_not_reference(document, *wanted) + "; " + name_in_text(*chosen) +
                            (is_memory ? " does, and the others are compared with it."
                                       : " takes its place: the others are compared with it."));
  }
  return chosen;
}

std::string nothing_usable(const ResultDocument& document) {
  const bool dead = std::any_of(document.modes.begin(), document.modes.end(), [](const auto& m) {
    return m.status == Status::ok && has_mark(m, "at-chance");
  });
  if (dead) {
    return "No recommendation: no mode learned anything (test accuracy is at chance). Train longer "
           "(--epochs) or with another learning rate (--lr) first.";
  }
  return document.modes.empty() ? "No recommendation: there are no runs in this result."
                                : "No recommendation: no mode finished.";
}

// What to do about a mark that forbids verdicts on time.
std::string remedy(const std::string& mark) {
  if (mark == "busy") return "Close other programs, or wait until the machine is quiet";
  if (mark == "throttled") return "Let the device cool, or cool it better";
  if (mark == "ecc-errors") return "Take another card";
  if (mark == "drift") return "Leave the machine alone meanwhile, or use --repeats 5";
  if (mark == "debug-build") return "Build with -DCMAKE_BUILD_TYPE=Release";
  return "Remove the cause";
}

// Times that say nothing leave memory and accuracy as they are.
void describe_untimed(const ResultDocument& document, const ModeRecord& reference, const Mark& mark,
                      Recommendation& out) {
  out.sentences.push_back("No recommendation: the times cannot be judged, " +
                          name_in_text(reference) + " is marked " + terminal_text(mark.id) + " (" +
                          shortened(terminal_text(mark.why)) + ").");
  out.sentences.push_back(remedy(mark.id) + ", and run it again.");
  std::string saving;
  for (const ModeRecord& mode : document.modes) {
    if (&mode == &reference || !is_usable(mode)) continue;
    const auto memory = memory_verdict(mode, reference);
    if (!memory || memory->decision != Decision::better) continue;
    saving += (saving.empty() ? "" : ", ") + name_in_text(mode) + " needs " + memory_words(*memory);
  }
  if (!saving.empty())
    out.sentences.push_back("Memory is counted and holds all the same: " + saving + ".");
}

void compare_modes(const ResultDocument& document, const ModeRecord& reference,
                   Recommendation& out) {
  if (has_mark(reference, "too-small")) {
    out.sentences.push_back(
        "No recommendation: the workload is too small for this device, so launches were timed and "
        "not precision. Use a larger model or --batch-size, or --config gpu-quick.");
    return;
  }
  if (const Mark* mark = mark_against_time(reference)) {
    describe_untimed(document, reference, *mark, out);
    return;
  }
  const std::optional<int64_t> test_samples = data_sizes(document).test;
  std::vector<Candidate> candidates;
  for (const ModeRecord& mode : document.modes) {
    if (&mode == &reference || !is_usable(mode)) continue;
    if (const Mark* mark = mark_against_time(mode)) {
      out.sentences.push_back(name_in_text(mode) + " is left out: it is marked " +
                              terminal_text(mark->id) + ". " + remedy(mark->id) +
                              ", and run it again.");
      continue;
    }
    candidates.push_back({&mode, speed_verdict(mode, reference), memory_verdict(mode, reference),
                          accuracy_verdict(mode, reference, test_samples), test_samples});
  }
  if (const Candidate* best = best_of(candidates)) {
    describe_best(*best, reference, out);
  } else {
    describe_none(candidates, reference, document.modes.size() == 1, out);
  }
  describe_losers(candidates, reference, out);
  for (const Candidate& candidate : candidates) {
    const std::string note = memory_note(*candidate.mode, reference);
    if (!note.empty()) out.sentences.push_back(terminal_text(note) + ".");
  }
}

}  // namespace

std::string code_for(const std::string& mode) {
  const ModeTraits* traits = find_mode(mode);
  if (traits == nullptr) return "";
  if (!traits->is_fabric) {
    return "torch.set_float32_matmul_precision(\"high\") before "
           "Trainer(precision=\"32-true\") or Fabric(precision=\"32-true\")";
  }
  return fmt::format("Trainer(precision=\"{0}\") or Fabric(precision=\"{0}\")", traits->name);
}

Recommendation recommend(const ResultDocument& document) {
  Recommendation out;
  if (const ModeRecord* reference = usable_reference(document, out)) {
    compare_modes(document, *reference, out);
  } else {
    out.sentences.push_back(nothing_usable(document));
  }
  if (!out.mode.empty()) out.code = code_for(out.mode);
  if (is_cpu(document)) {
    const ModeRecord* chosen = find_mode_record(document, out.mode);
    if (chosen != nullptr && chosen->mode == "16-mixed" && chosen->effective_mode == "16-mixed") {
      out.sentences.emplace_back(
          "On a CPU Lightning runs bf16-mixed where 16-mixed is asked for; real fp16 was measured "
          "here.");
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
