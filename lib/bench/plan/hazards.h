// Known ways in which a plan's numbers or times will disappoint, told before anything runs.
#pragma once

#include <string>
#include <vector>

#include "bench/plan/plan.h"

namespace precbench {

// Sentences. `tf32_override`: the variable NVIDIA_TF32_OVERRIDE, empty where it is not set.
std::vector<std::string> hazards(const Plan& plan, bool is_cuda, const std::string& tf32_override);

// NVIDIA's guide "Train With Mixed Precision": tensor cores want multiples of 8 in 16-bit formats.
inline constexpr int64_t kTensorCoreMultiple = 8;

}  // namespace precbench
