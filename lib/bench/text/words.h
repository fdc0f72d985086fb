// What people call an outcome.
#pragma once

#include <string_view>

#include "common/run_record.h"

namespace precbench {

// "out of memory", "timed out", "diverged", ...
std::string_view words_for(Status status);

}  // namespace precbench
