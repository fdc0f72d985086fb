// How many threads a run should use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace precbench {

// CPUs that a cgroup v2 `cpu.max` ("200000 100000" = 2, "max 100000" = no limit) allows, rounded
// up.
std::optional<int64_t> parse_cpu_max(const std::string& text);

// Physical cores of /proc/cpuinfo: distinct pairs of physical and core id; 0 where it does not
// tell.
int64_t parse_physical_cores(const std::string& cpuinfo);

// Physical cores, limited by this process's affinity and its container's quota; at least 1.
int64_t usable_cores();

}  // namespace precbench
