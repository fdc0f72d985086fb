// Known ways in which a plan's numbers or times will disappoint, told before anything runs.
#pragma once

#include <string>
#include <vector>

#include "bench/plan/plan.h"

namespace precbench {

// Sentences. `tf32_override`: the
// variable NVIDIA_TF32_OVERRIDE, empty where it is not set.
std::vector<std::string> hazards(const Plan& plan, bool is_cuda, const std::string& tf32_override);

// An eps up to this is 0 in float16: its smallest subnormal is 2^-24, and half of that rounds to
// even, which is 0.
inline constexpr double kVanishesInFloat16 = 0x1p-25;

// NVIDIA's guide "Train With Mixed Precision": tensor cores want multiples of 8 in 16-bit formats.
inline constexpr int64_t kTensorCoreMultiple = 8;

}  // namespace precbench
