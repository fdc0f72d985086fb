// The marks that follow from a document itself: n=1, emulated, at-chance, debug-build, drift,
// trend. Others (busy, throttled, too-small, other-machine) are set where they are observed; how
// much busy and throttled can have cost is worked out here.
#pragma once

#include <optional>

#include "bench/result/document.h"

namespace precbench {

// Test accuracy up to which a model that guesses would come with probability kChanceConfidence or
// more: the binomial quantile for `samples` guesses among `classes`, as a fraction.
double chance_bound(int64_t classes, int64_t samples);

// The bound for the document's data set; nothing when its classes or size are not known.
std::optional<double> chance_bound(const ResultDocument& document);

// Sets those marks on every mode, replacing the ones that stand there; may be called again.
void assign_marks(ResultDocument& document);

}  // namespace precbench
