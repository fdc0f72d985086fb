#include <gtest/gtest.h>

#include <map>

#include "bench/platform/cpu_count.h"

namespace precbench::platform_cpu_count_test {
namespace {

ReadText files(std::map<std::string, std::string> texts) {
  return [texts = std::move(texts)](const std::string& path) {
    const auto entry = texts.find(path);
    return entry == texts.end() ? std::string() : entry->second;
  };
}

// Documentation/admin-guide/cgroup-v2.rst: "$MAX $PERIOD", in microseconds.
TEST(CpuMax, RoundsUpToWholeCpus) {
  EXPECT_EQ(parse_cpu_max("200000 100000\n"), 2);
  EXPECT_EQ(parse_cpu_max("150000 100000"), 2);
  EXPECT_EQ(parse_cpu_max("1000 100000"), 1);
  for (const char* text : {"max 100000\n", "", "max", "100000", "0 100000", "-1 100000", "5 0",
                           "200000 100000 1", "2e5 100000"}) {
    EXPECT_EQ(parse_cpu_max(text), std::nullopt) << text;
  }
}

TEST(CfsQuota, KnowsMinusOneAsNoLimit) {
  EXPECT_EQ(parse_cfs_quota("-1\n", "100000\n"), std::nullopt);
  EXPECT_EQ(parse_cfs_quota("350000\n", "100000\n"), 4);
  EXPECT_EQ(parse_cfs_quota("", ""), std::nullopt);
}

TEST(CgroupQuota, TakesTheTightestOnTheWayUp) {
  EXPECT_EQ(cgroup_quota(files({{"/proc/self/cgroup", "0::/a/b\n"},
                                {"/sys/fs/cgroup/a/b/cpu.max", "800000 100000"},
                                {"/sys/fs/cgroup/a/cpu.max", "300000 100000"},
                                {"/sys/fs/cgroup/cpu.max", "max 100000"}})),
            3);
}

// A container often sees its host's path and its own group at the mount's root.
TEST(CgroupQuota, FindsAContainersOwnGroupAtTheRoot) {
  EXPECT_EQ(cgroup_quota(files({{"/proc/self/cgroup", "0::/docker/4f2a\n"},
                                {"/sys/fs/cgroup/cpu.max", "400000 100000"}})),
            4);
  EXPECT_EQ(cgroup_quota(files(
                {{"/proc/self/cgroup", "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "400000 100000"}})),
            4);
}

TEST(CgroupQuota, ReadsVersionOneToo) {
  EXPECT_EQ(
      cgroup_quota(files({{"/proc/self/cgroup", "3:cpuset:/x\n1:cpu,cpuacct:/docker/ab\n0::/\n"},
                          {"/sys/fs/cgroup/cpu/docker/ab/cpu.cfs_quota_us", "600000"},
                          {"/sys/fs/cgroup/cpu/docker/ab/cpu.cfs_period_us", "100000"}})),
      6);
}

TEST(CgroupQuota, IsUnknownWithoutCgroups) {
  EXPECT_EQ(cgroup_quota(files({})), std::nullopt);
  EXPECT_EQ(cgroup_quota(files({{"/proc/self/cgroup", "garbage\n::\n:::\n"}})), std::nullopt);
}

// Two packages of two cores with two threads each; Linux numbers the second threads last.
std::string cpuinfo() {
  std::string text;
  for (int cpu = 0; cpu < 8; ++cpu) {
    text += "processor\t: " + std::to_string(cpu) +
            "\nphysical id\t: " + std::to_string(cpu % 4 / 2) +
            "\ncore id\t\t: " + std::to_string(cpu % 2) + "\n\n";
  }
  return text;
}

TEST(PhysicalCores, CountsThreadsOfOneCoreOnce) {
  EXPECT_EQ(parse_physical_cores(cpuinfo(), {0, 1, 2, 3, 4, 5, 6, 7}), 4);
  EXPECT_EQ(parse_physical_cores(cpuinfo(), {0, 4}), 1);  // both threads of one core
  EXPECT_EQ(parse_physical_cores(cpuinfo(), {0, 2}), 2);  // core 0 of either package
}

TEST(PhysicalCores, IsZeroWhereTheKernelDoesNotTell) {
  EXPECT_EQ(parse_physical_cores("processor\t: 0\nFeatures\t: asimd\n", {0}), 0);
}

TEST(UsableCores, IsAtLeastOne) { EXPECT_GE(usable_cores(), 1); }

}  // namespace
}  // namespace precbench::platform_cpu_count_test
