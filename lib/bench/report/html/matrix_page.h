// The page of `precbench matrix`: tables and advice, no script.
#pragma once

#include <string>
#include <vector>

#include "bench/report/matrix.h"

namespace precbench {

std::string html_of_matrix(const std::vector<MatrixGroup>& groups,
                           const std::vector<const MetricTraits*>& metrics);

}  // namespace precbench
