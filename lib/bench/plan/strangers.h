// What a configuration file of somebody else would do besides training.
#pragma once

#include <string>
#include <vector>

#include "bench/plan/resolver.h"

namespace precbench {

// A sentence for each file that a configuration, and no flag or variable, has written outside the
// results folder, and for each program that it has run: to be told before anything starts.
std::vector<std::string> doings_of_config(const ResolvedOptions& options);

}  // namespace precbench
