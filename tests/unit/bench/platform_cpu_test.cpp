#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/platform/cpu.h"

namespace precbench::platform_cpu_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Cpuinfo, ReadsAnX86MachineWithTwoThreadsACore) {
  // Two packages of one core with two threads each.
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += "processor\t: " + std::to_string(i) + "\nmodel name\t: Some CPU @ 2.00GHz: fast\n" +
            "physical id\t: " + std::to_string(i / 2) + "\ncore id\t\t: 0\n" +
            "flags\t\t: fpu avx512_bf16 avx2 amx avx512f sse2\n\n";
  }
  const CpuFacts facts = parse_cpuinfo(text);
  EXPECT_EQ(facts.model, "Some CPU @ 2.00GHz: fast");
  EXPECT_EQ(facts.architecture, "x86_64");
  EXPECT_EQ(facts.logical_cores, 4);
  EXPECT_EQ(facts.physical_cores, 2);
  EXPECT_THAT(facts.flags, ElementsAre("avx2", "avx512f", "avx512_bf16"));
  EXPECT_TRUE(facts.flags_known);
}

TEST(Cpuinfo, CountsEveryLogicalCoreWhereNoCoreIdIsGiven) {
  const CpuFacts facts =
      parse_cpuinfo("processor : 0\nflags : sse2\n\nprocessor : 1\nflags : sse2\n");
  EXPECT_EQ(facts.physical_cores, 2);
  EXPECT_THAT(facts.flags, IsEmpty());
  EXPECT_TRUE(facts.flags_known);
}

TEST(Cpuinfo, NamesAnArmCoreByItsNumbers) {
  const std::string text =
      "processor\t: 0\nBogoMIPS\t: 243.75\n"
      "Features\t: fp asimd fphp asimdhp asimddp\nCPU implementer\t: 0x41\n"
      "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n";
  const CpuFacts facts = parse_cpuinfo(text);
  EXPECT_EQ(facts.model, "Arm Neoverse N1");
  EXPECT_EQ(facts.architecture, "aarch64");
  EXPECT_THAT(facts.flags, ElementsAre("fphp", "asimdhp"));
}

TEST(Cpuinfo, KeepsTheNumbersOfAnUnknownArmCore) {
  EXPECT_EQ(parse_cpuinfo("CPU implementer : 0x61\nCPU part : 0x022\n").model,
            "ARM, implementer 0x61, part 0x022");
}

TEST(Cpuinfo, KnowsNothingFromAnEmptyFile) {
  const CpuFacts facts = parse_cpuinfo("");
  EXPECT_EQ(facts.model, "");
  EXPECT_EQ(facts.logical_cores, 0);
  EXPECT_FALSE(facts.flags_known);
}

TEST(Cpuid, AddsTheFlagsThatLinuxHides) {
  CpuFacts facts = parse_cpuinfo("flags : avx2 avx_vnni amx_tile amx_bf16\n");
  // CPUID.(7,1): EAX bit 21 AMX-FP16; EDX bit 4 AVX-VNNI-INT8, bit 5 AVX-NE-CONVERT.
  add_cpuid_flags(facts, 0x200000, 0x30);
  EXPECT_THAT(facts.flags, ElementsAre("avx2", "avx_vnni", "amx_tile", "amx_bf16", "amx_fp16",
                                       "avx_vnni_int8", "avx_ne_convert"));
}

TEST(Cpuid, DoesNotCountUnitsThatTheSystemSwitchedOff) {
  CpuFacts facts = parse_cpuinfo("flags : sse2\n");
  add_cpuid_flags(facts, 0xffffffff, 0xffffffff);
  EXPECT_THAT(facts.flags, IsEmpty());
}

TEST(Cpu, ReadsThisMachine) {
  const CpuFacts facts = read_cpu_facts();
  EXPECT_GE(facts.logical_cores, 1);
  EXPECT_GE(facts.physical_cores, 1);
  EXPECT_LE(facts.physical_cores, facts.logical_cores);
  EXPECT_FALSE(facts.architecture.empty());
}

}  // namespace
}  // namespace precbench::platform_cpu_test
