// The part of a plan that makes two results comparable.
#pragma once

#include <optional>
#include <string>

#include "bench/plan/plan.h"
#include "data/load.h"

namespace precbench {

// Raised when a mode's semantics change so that old figures no longer compare.
inline constexpr int64_t kSemanticsVersion = 1;

// The result file's `protocol`, with its hash; "auto" values are resolved by then. Without a digest
// (synthetic data) data_sha256 is null, with its reason. `data` adds the sizes that accuracies are
// judged by: train_samples, test_samples (after the limits) and classes. Throws FileError when the
// file of --init-weights cannot be read.
json protocol_json(const Plan& plan, const std::optional<std::string>& data_sha256, bool is_cuda,
                   const std::optional<data::DatasetSummary>& data = std::nullopt);

}  // namespace precbench
