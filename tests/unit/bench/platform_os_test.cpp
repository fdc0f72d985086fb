#include <gtest/gtest.h>

#include "bench/platform/os.h"

namespace precbench::platform_os_test {
namespace {

TEST(OsRelease, PrefersThePrettyName) {
  EXPECT_EQ(
      parse_os_release("NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\nVERSION_ID=22\n"),
      "Ubuntu 22.04.4 LTS");
}

TEST(OsRelease, JoinsNameAndVersionWithoutOne) {
  EXPECT_EQ(parse_os_release("NAME='Alpine Linux'\nVERSION_ID=3.19\n"), "Alpine Linux 3.19");
  EXPECT_EQ(parse_os_release("NAME=Arch"), "Arch");
  EXPECT_EQ(parse_os_release("# nothing\n"), std::nullopt);
}

TEST(OsRelease, UndoesTheShellsEscapes) {
  EXPECT_EQ(parse_os_release("PRETTY_NAME=\"A \\\"quoted\\\" \\$name\"\n"), "A \"quoted\" $name");
}

TEST(Meminfo, CountsTheKernelsKilobytesAs1024Bytes) {
  EXPECT_EQ(parse_meminfo_total("MemTotal:       16384000 kB\nMemFree: 1 kB\n"), 16777216000);
  EXPECT_EQ(parse_meminfo_total("MemFree: 1 kB\n"), std::nullopt);
  EXPECT_EQ(parse_meminfo_total("MemTotal: 99999999999999999999 kB\n"), std::nullopt);
}

TEST(Loadavg, ReadsTheLastMinute) {
  EXPECT_DOUBLE_EQ(*parse_loadavg("1.25 0.50 0.10 2/345 6789\n"), 1.25);
  EXPECT_EQ(parse_loadavg(""), std::nullopt);
  EXPECT_EQ(parse_loadavg("nan"), std::nullopt);
}

TEST(Container, TakesTheMostTellingSign) {
  ContainerSigns signs;
  EXPECT_EQ(container_hint(signs), std::nullopt);
  signs.variable = "systemd-nspawn";
  EXPECT_EQ(container_hint(signs), "systemd-nspawn");
  signs.dockerenv = true;
  EXPECT_EQ(container_hint(signs), "docker");
  signs.cgroup = "0::/kubepods/besteffort/pod1\n";
  EXPECT_EQ(container_hint(signs), "kubernetes");
  signs.kaggle = true;
  EXPECT_EQ(container_hint(signs), "kaggle");
}

TEST(Os, ReadsThisMachine) {
  const OsFacts facts = read_os_facts();
  EXPECT_TRUE(facts.kernel.has_value());
  EXPECT_GT(facts.memory_bytes.value_or(0), 0);
}

}  // namespace
}  // namespace precbench::platform_os_test
