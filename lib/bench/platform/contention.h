// Whether others used this machine's processors while a run was measured (the mark `busy`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace precbench {

// The time of all processors since boot, from the first line of /proc/stat. In a container these
// are the whole machine's figures, which is what is wanted.
struct CpuSnapshot {
  int64_t busy_ticks = 0;   // user, nice, system, irq, softirq, and steal: taken by other machines
  int64_t total_ticks = 0;  // busy, idle and iowait; 0 = unknown
  double ticks_per_s = 100;
};

CpuSnapshot parse_proc_stat(std::string_view text, double ticks_per_s);

// PRECBENCH_PROC_STAT names another file for tests.
CpuSnapshot read_cpu_snapshot();

// User and system time of this process so far. Children are not in it: a worker's time is in its
// JobOutcome.
double own_cpu_s();

// A run on all cores takes up to 1 / (1 - share) of its time alone: 11 % more at this share, twice
// what single runs on a shared machine differ by anyway (bench/judge/judge.h). What a system
// does by itself stays far under it.
inline constexpr double kBusyShare = 0.10;

// /proc/stat counts in ticks of 10 ms: with fewer than this many, one tick more or less on each
// side could make a quiet machine look busy.
inline constexpr int64_t kLeastTicks = 50;

// The share (0 to 1) of the machine's processor time between two snapshots that went to others.
// `own_s`: CPU seconds that this process and its worker used in between. Nothing when a snapshot
// is unknown or they are too close together.
std::optional<double> share_of_others(const CpuSnapshot& before, const CpuSnapshot& after,
                                      double own_s);

// Why a row measured in between is `busy`; nothing when it is not, or when nothing is known.
std::optional<std::string> busy_reason(const CpuSnapshot& before, const CpuSnapshot& after,
                                       double own_s);

}  // namespace precbench
