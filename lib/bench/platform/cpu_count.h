// How many threads a run should use.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace precbench {

// CPUs that a cgroup v2 `cpu.max` ("200000 100000" = 2, "max 100000" = no limit) allows, rounded
// up.
std::optional<int64_t> parse_cpu_max(const std::string& text);

// The same from cgroup v1's cpu.cfs_quota_us (-1 = no limit) and cpu.cfs_period_us.
std::optional<int64_t> parse_cfs_quota(const std::string& quota, const std::string& period);

// Reads a small text file; empty when there is none.
using ReadText = std::function<std::string(const std::string& path)>;

// The tightest quota of our cgroup and of each one above it, in both versions of cgroups. Inside a
// container /proc/self/cgroup may name a path of the host: what is not there limits nothing.
std::optional<int64_t> cgroup_quota(const ReadText& read);

// Physical cores of /proc/cpuinfo among the logical CPUs `allowed`: distinct pairs of physical and
// core id; 0 where it does not tell (ARM).
int64_t parse_physical_cores(const std::string& cpuinfo, const std::set<int64_t>& allowed);

// Physical cores, limited by this process's affinity and its container's quota; at least 1.
int64_t usable_cores();

}  // namespace precbench
