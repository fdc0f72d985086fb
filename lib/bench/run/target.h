// When a run reached --target-accuracy or --target-perplexity.
#pragma once

#include <optional>

#include "common/job.h"
#include "common/run_record.h"

namespace precbench {

// By the run's evaluations; nothing where no target was asked for.
std::optional<TargetRecord> target_of(const TrainJob& job, const TrainResult& result);

}  // namespace precbench
