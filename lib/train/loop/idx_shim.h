#pragma once
#include <string>

#include "train/loop/data_set.h"

namespace precbench::train {
Split read_idx_split(const std::string& dir, const std::string& prefix, int64_t limit);
}
