#include "bench/platform/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "bench/files/text_file.h"

namespace precbench {
namespace {

// Logical CPUs that the scheduler may place us on; empty where it does not tell (over 1024 CPUs).
std::set<int64_t> affinity() {
  std::set<int64_t> allowed;
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return allowed;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) allowed.insert(cpu);
  }
  return allowed;
}

std::optional<int64_t> cpus_of(std::optional<int64_t> quota_us, std::optional<int64_t> period_us) {
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return std::nullopt;
  return (*quota_us - 1) / *period_us + 1;  // rounded up
}

// "8:cpu,cpuacct:/docker/ab" -> the path, if the line is version 2's or version 1's of `cpu`.
struct Group {
  bool is_v2 = false;
  std::string path;
};
std::optional<Group> cpu_group(std::string_view line) {
  const size_t first = line.find(':');
  const size_t second = line.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string path(line.substr(second + 1));
  if (controllers.empty()) return Group{true, path};
  const bool has_cpu = ("," + std::string(controllers) + ",").find(",cpu,") != std::string::npos;
  return has_cpu ? std::optional(Group{false, path}) : std::nullopt;
}

std::optional<int64_t> quota_of(const Group& group, const std::string& path, const ReadText& read) {
  if (group.is_v2) return parse_cpu_max(read("/sys/fs/cgroup" + path + "/cpu.max"));
  const std::string folder = "/sys/fs/cgroup/cpu" + path;
  return parse_cfs_quota(read(folder + "/cpu.cfs_quota_us"), read(folder + "/cpu.cfs_period_us"));
}

}  // namespace

std::optional<int64_t> parse_cpu_max(const std::string& text) {
  const auto words = words_of(text);
  if (words.size() != 2) return std::nullopt;
  return cpus_of(whole_number(words[0]), whole_number(words[1]));
}

std::optional<int64_t> parse_cfs_quota(const std::string& quota, const std::string& period) {
  return cpus_of(whole_number(trimmed(quota)), whole_number(trimmed(period)));
}

std::optional<int64_t> cgroup_quota(const ReadText& read) {
  std::optional<int64_t> tightest;
  const std::string groups = read("/proc/self/cgroup");
  for (const std::string_view line : lines_of(groups)) {
    const auto group = cpu_group(line);
    if (!group) continue;
    std::string path = group->path == "/" ? "" : group->path;
    while (true) {
      const auto quota = quota_of(*group, path, read);
      if (quota && (!tightest || *quota < *tightest)) tightest = quota;
      if (path.find('/') == std::string::npos) break;
      path.erase(path.rfind('/'));
    }
  }
  return tightest;
}

int64_t parse_physical_cores(const std::string& cpuinfo, const std::set<int64_t>& allowed) {
  std::set<std::pair<std::string_view, std::string_view>> cores;
  std::string_view package;
  bool counts = false;
  for (const std::string_view line : lines_of(cpuinfo)) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (key == "processor") counts = allowed.count(whole_number(value).value_or(-1)) != 0;
    if (key == "physical id") package = value;
    if (key == "core id" && counts) cores.emplace(package, value);
  }
  return static_cast<int64_t>(cores.size());
}

int64_t usable_cores() {
  const ReadText read = [](const std::string& path) { return read_text_file(path).value_or(""); };
  const std::set<int64_t> allowed = affinity();
  int64_t count =
      allowed.empty() ? std::thread::hardware_concurrency() : static_cast<int64_t>(allowed.size());
  const int64_t physical = parse_physical_cores(read("/proc/cpuinfo"), allowed);
  if (physical > 0) count = std::min(count, physical);
  if (const auto quota = cgroup_quota(read)) count = std::min(count, *quota);
  return std::max<int64_t>(1, count);
}

}  // namespace precbench
