// A metric's figure with its unit, as in "16m 28s ± 2.10s" or "5603 MiB".
#pragma once

#include <optional>
#include <string>

#include "bench/stats/estimate.h"
#include "common/metrics.h"

namespace precbench {

std::string figure_text(const std::optional<Estimate>& value, const MetricTraits& metric);

}  // namespace precbench
