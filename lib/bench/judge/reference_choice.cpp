#include "bench/judge/reference_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/result/measured.h"

namespace precbench {
namespace {

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

// The reference that the user wanted, whatever became of it: --reference, else 32-true if it was
// asked for, else the first mode.
const ModeRecord* wanted_reference(const ResultDocument& document) {
  const auto named = text_at(document.invocation, {"config", "reference", "value"});
  for (const std::string& name : {named.value_or(""), std::string("32-true")}) {
    if (const ModeRecord* mode = find_mode_record(document, name)) return mode;
  }
  return document.modes.empty() ? nullptr : &document.modes.front();
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

}  // namespace

bool is_usable(const ModeRecord& mode) {
  return mode.status == Status::ok && !measured_runs(mode).empty() && !has_mark(mode, "at-chance");
}

ReferenceChoice choose_reference(const ResultDocument& document) {
  ReferenceChoice choice;
  const ModeRecord* chosen = find_mode_record(document, document.reference);
  if (chosen == nullptr || !is_usable(*chosen)) {
    const auto first = std::find_if(document.modes.begin(), document.modes.end(), is_usable);
    if (first == document.modes.end()) {
      choice.sentence = nothing_usable(document);
      return choice;
    }
    chosen = &*first;
  }
  const ModeRecord* wanted = wanted_reference(document);
  if (wanted != nullptr && wanted != chosen && !is_usable(*wanted)) {
    const bool is_memory = wanted->status == Status::oom;
    choice.sentence = why_not_reference(document, *wanted) + "; " + name_in_text(*chosen) +
                      (is_memory ? " does, and the others are compared with it."
                                 : " takes its place: the others are compared with it.");
  }
  choice.mode = chosen;
  return choice;
}

}  // namespace precbench
