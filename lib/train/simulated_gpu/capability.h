// The compute capabilities (major * 10 + minor) at which PyTorch's rules change.
#pragma once

namespace precbench::train::simulated {

inline constexpr int kVolta = 70, kAmpere = 80, kHopper = 90;

}  // namespace precbench::train::simulated
