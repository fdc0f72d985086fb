// The marks: what each one says about times, and what to do about it. Those that follow from a
// document itself are set here, others where they are observed; how much busy and throttled can
// have cost is worked out here.
#pragma once

#include <optional>

#include "bench/result/document.h"

namespace precbench {

// What a mark says of a mode's times.
enum class OnTimes {
  nothing,
  slowed,     // clean ones may be shorter, by what the mark bounds
  moved,      // they may be shorter or longer, by what the mark bounds
  forbidden,  // nothing bounds it
};

struct MarkTraits {
  std::string_view id;
  OnTimes on_times = OnTimes::nothing;
  bool is_of_document = false;  // assign_marks sets it
  bool is_quiet = false;        // in no cell and no footnote
  std::string_view remedy = "Remove the cause";
};

inline constexpr MarkTraits kMarks[] = {
    // Every row's without repeats: the signs ? in the cells say what follows from it.
    {.id = "n=1", .is_of_document = true, .is_quiet = true},
    {.id = "emulated", .is_of_document = true},
    {.id = "at-chance", .is_of_document = true},
    {.id = "busy",
     .on_times = OnTimes::slowed,
     .remedy = "Close other programs, or wait until the machine is quiet"},
    {.id = "throttled",
     .on_times = OnTimes::slowed,
     .remedy = "Let the device cool, or cool it better"},
    {.id = "drift",
     .on_times = OnTimes::moved,
     .is_of_document = true,
     .remedy = "Leave the machine alone meanwhile, or use --repeats 5"},
    {.id = "trend",
     .on_times = OnTimes::moved,
     .is_of_document = true,
     .remedy = "Leave the machine alone meanwhile, or use --repeats 5"},
    {.id = "ecc-errors", .on_times = OnTimes::forbidden, .remedy = "Take another card"},
    {.id = "debug-build",
     .on_times = OnTimes::forbidden,
     .is_of_document = true,
     .remedy = "Build with -DCMAKE_BUILD_TYPE=Release"},
    {.id = "too-small", .on_times = OnTimes::forbidden},
    {.id = "other-host",
     .on_times = OnTimes::forbidden,
     .remedy = "Run it on one machine, or merge its parts with --across-machines"},
    {.id = "resumed",
     .on_times = OnTimes::forbidden,
     .remedy = "Run it in one piece where its times count"},
    {.id = "shared"},
    {.id = "other-machine"},  // speaks of the distance to another file
};

// Of a mark that a file from elsewhere has and we do not know: nothing.
const MarkTraits& traits_of(const Mark& mark);

// Test accuracy up to which a model that guesses would come with probability kChanceConfidence or
// more: the binomial quantile for `samples` guesses among `classes`, as a fraction.
double chance_bound(int64_t classes, int64_t samples);

// The bound for the document's data set; nothing when its classes or size are not known.
std::optional<double> chance_bound(const ResultDocument& document);

// Sets those marks on every mode, replacing the ones that stand there; may be called again.
void assign_marks(ResultDocument& document);

}  // namespace precbench
