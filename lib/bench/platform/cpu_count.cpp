#include "bench/platform/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

namespace precbench {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int64_t cpus_of_affinity() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return std::thread::hardware_concurrency();
  return CPU_COUNT(&cpus);
}

// The quota of our own cgroup and of each one above it: the tightest counts.
std::optional<int64_t> cgroup_quota() {
  std::istringstream lines(file_text("/proc/self/cgroup"));
  std::optional<int64_t> tightest;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    for (std::string group = line.substr(3);; group.erase(group.rfind('/'))) {
      const auto quota = parse_cpu_max(file_text("/sys/fs/cgroup" + group + "/cpu.max"));
      if (quota && (!tightest || *quota < *tightest)) tightest = quota;
      if (group.rfind('/') == std::string::npos) break;
    }
  }
  return tightest;
}

}  // namespace

std::optional<int64_t> parse_cpu_max(const std::string& text) {
  std::istringstream words(text);
  std::string quota;
  int64_t period = 0;
  if (!(words >> quota >> period) || quota == "max" || period <= 0) return std::nullopt;
  std::istringstream number(quota);
  int64_t microseconds = 0;
  if (!(number >> microseconds) || microseconds <= 0) return std::nullopt;
  return std::max<int64_t>(1, (microseconds + period - 1) / period);
}

int64_t parse_physical_cores(const std::string& cpuinfo) {
  std::istringstream lines(cpuinfo);
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket;
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 1);
    if (line.rfind("physical id", 0) == 0) socket = value;
    if (line.rfind("core id", 0) == 0) cores.emplace(socket, value);
  }
  return static_cast<int64_t>(cores.size());
}

int64_t usable_cores() {
  int64_t count = cpus_of_affinity();
  if (const int64_t physical = parse_physical_cores(file_text("/proc/cpuinfo")); physical > 0) {
    count = std::min(count, physical);
  }
  if (const auto quota = cgroup_quota()) count = std::min(count, *quota);
  return std::max<int64_t>(1, count);
}

}  // namespace precbench
