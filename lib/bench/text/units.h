// Figures as people read them. All texts are UTF-8; ascii_text (escape.h) makes them ASCII.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/stats/estimate.h"

namespace precbench {

inline constexpr double kMebibyte = 1024.0 * 1024.0;

// "12.34s", "16m 28s", "2h 05m" (from two hours on); with a spread "12.34s ± 0.12s".
std::string duration_text(double seconds);
std::string duration_text(const Estimate& seconds);

std::string percent_text(const Estimate& fraction);  // "46.15 %", "91.42 ± 0.11 %"
std::string points_text(double difference);          // -0.0122: "-1.22 pp"
std::string bound_text(double bound);                // points, rounded up: 0.0351: "3.6"; 0.02: "2"
std::string mebibytes_text(double bytes);            // "5603"

// time / reference time as "3.74x faster", "1.35x slower", "same speed"; with its propagated error
// "2.08 ± 0.02x faster". Never "0.74x".
std::string speed_text(const Ratio& time_ratio);

// 0.64: "-36 %"; 1.0: "0 %".
std::string change_text(double ratio);

}  // namespace precbench
