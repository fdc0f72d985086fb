// What the samples of a card during a run amount to: the run's `energy` object, and whether the row
// may be trusted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/platform/nvml_device.h"
#include "bench/result/document.h"

namespace precbench {

// Slower clocks that the card was forced to, in this share of the samples: a single sample of a
// long run is no trouble, a twentieth of the time shows in the time.
inline constexpr double kThrottledShare = 0.05;

// A mean SM clock under this share of the card's highest one is told even if no reason is given.
// Power-capped cards do run far below their highest clock in good health (a T4 at 70 W: 55 to 70 %
// of 1590 MHz), so the bound is lower.
inline constexpr double kLowClockShare = 0.5;

// Reasons of nvmlClocksEventReason* that lower clocks against the card's will: hardware slowdown,
// too hot (software, hardware), power brake. The power cap is not among them: for many cards it is
// the normal state under load.
inline constexpr uint64_t kThrottleReasons = 0x8 | 0x20 | 0x40 | 0x80;
inline constexpr uint64_t kIdleReason = 0x1;

// Memory of the card that is in use before a run begins and its worker exists. An old driver counts
// some hundred MiB of its own; more than this belongs to somebody. Containers often hide who.
inline constexpr int64_t kOthersBytes = int64_t{1} << 30;

// "power cap", "too hot (hardware)", ... for one bit; "reason 0x..." for an unknown one.
std::string clock_reason_name(uint64_t bit);

// How many processes on the card are not ours. NVML in a container may list none or list ids of
// another namespace: with none of ours among them, one may be ours, the others are not.
std::optional<int64_t> foreign_processes(const std::vector<int64_t>& processes,
                                         const std::function<bool(int64_t)>& is_ours);

struct NvmlReport {
  // {energy_j, method "counter"|"power samples", duration_s, samples, mean_power_w,
  //  temperature_c{min, mean, max}, sm_clock_mhz{min, mean, max, limit}, memory_clock_mhz{},
  //  clock_reasons{name: share of samples}, device_used_bytes, ecc_errors, foreign_processes,
  //  unknown}
  json energy;
  std::vector<Mark> marks;  // throttled, busy, ecc-errors, shared
};

// `samples` in the order of their times; `foreign` is the largest number of other processes seen.
NvmlReport nvml_report(const std::vector<NvmlSample>& samples, const NvmlFacts& facts,
                       const Unknowns& unknown, const std::optional<int64_t>& foreign);

// The report when there is nothing to tell: every figure null for the same reason.
NvmlReport empty_nvml_report(const std::string& reason);

}  // namespace precbench
