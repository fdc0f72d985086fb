#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/platform/verdict.h"
#include "platform_devices.h"

namespace precbench::platform_verdict_test {
namespace {

using testing::cpu;
using testing::gpu;

std::string said(std::string_view mode, const DeviceFacts& device) {
  const Support support = verdict(*find_mode(mode), device);
  return std::string(name_of(support.verdict)) + ": " + support.why;
}

TEST(Verdict, IsRightForEveryKnownDeviceInEveryMode) {
  for (const testing::KnownDevice& device : testing::known_devices()) {
    for (const ModeTraits& mode : kModes) {
      EXPECT_EQ(name_of(verdict(mode, device.facts).verdict), device.verdicts.at(mode.native))
          << mode.name << " on " << device.label;
    }
  }
}

TEST(Verdict, KnowsTheDevicesThatPeopleAskAbout) {
  std::set<std::string> names;
  for (const auto& device : testing::known_devices()) names.insert(device.facts.name);
  EXPECT_GE(names.size(), 18U);
}

TEST(Verdict, SaysWhyInOneShortLine) {
  for (const testing::KnownDevice& device : testing::known_devices()) {
    for (const ModeTraits& mode : kModes) {
      const Support support = verdict(mode, device.facts);
      EXPECT_LE(support.why.size(), 80U) << support.why;
      EXPECT_EQ(support.why.find('\n'), std::string::npos);
      if (support.verdict != SupportLevel::native) {
        EXPECT_FALSE(support.why.empty()) << mode.name << " on " << device.label;
      }
    }
  }
}

TEST(Verdict, SpeaksOfATeslaT4AsThePublishedRunFoundIt) {
  const DeviceFacts t4 = gpu("Tesla T4", 75);
  EXPECT_EQ(said("32-true", t4), "native: ");
  EXPECT_EQ(said("16-mixed", t4), "native: tensor cores");
  EXPECT_EQ(said("bf16-mixed", t4), "emulated: native from Ampere, 8.0");
  EXPECT_EQ(said("64-true", t4), "no_fast_path: 1/32 of the fp32 rate");
  EXPECT_EQ(said("tf32", t4), "unsupported: needs Ampere, 8.0");
  EXPECT_EQ(said("transformer-engine", t4), "emulated: native from Ada and Hopper, 8.9");
}

TEST(Verdict, ReadsTheFlagsOfACpuWithBfloat16AndWithoutFloat16) {
  const DeviceFacts zen5 = cpu("AMD EPYC", "x86_64",
                               {"avx2", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx_vnni",
                                "avx512_vnni", "avx512_bf16"});
  EXPECT_EQ(said("bf16-mixed", zen5), "native: avx512_bf16");
  EXPECT_EQ(said("16-mixed", zen5), "emulated: no avx512_fp16 or amx_fp16 here");
  EXPECT_EQ(said("tf32", zen5), "unsupported: needs a GPU from Ampere, 8.0");
}

TEST(Verdict, NamesTheFlagThatOneDnnMissesWhenAVirtualMachineHidesIt) {
  const DeviceFacts hidden = cpu(
      "AMD EPYC", "x86_64", {"avx2", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_bf16"});
  EXPECT_EQ(said("bf16-true", hidden), "emulated: avx512_bf16 is not used without avx512_vnni");
}

TEST(Verdict, AsksForBothHalvesOfArmFloat16) {
  EXPECT_EQ(said("16-true", cpu("ARM", "aarch64", {"fphp"})),
            "emulated: no fp16 instructions here");
  EXPECT_EQ(said("16-true", cpu("ARM", "aarch64", {"fphp", "asimdhp"})), "native: asimdhp");
}

TEST(Verdict, AdmitsThatUnreadFlagsSayNothing) {
  DeviceFacts unread = cpu("", "x86_64", {});
  unread.cpu.flags_known = false;
  EXPECT_EQ(said("bf16-mixed", unread), "emulated: this CPU's flags cannot be read");
  EXPECT_EQ(said("32-true", unread), "native: ");
}

TEST(Verdict, NamesTheLibTorchThatStillRunsAnOldCard) {
  EXPECT_EQ(
      said("32-true", gpu("Tesla P100", 60, {75, 80, 86, 90, 100, 120})),
      "unsupported: LibTorch 2.11.0 has no kernels for 6.0; a CUDA 12.6 build up to 2.14 has");
  EXPECT_EQ(said("32-true", gpu("Tesla K80", 37, {50, 60, 70, 75, 80, 86, 90})),
            "unsupported: LibTorch 2.11.0 has no kernels for 3.7; build it from source");
}

TEST(Verdict, TakesKernelsOfAnEarlierMinorVersionOnly) {
  // sm_86 runs on 8.9, sm_89 does not run on 8.6, sm_80 does not run on 9.0.
  EXPECT_EQ(said("bf16-mixed", gpu("L4", 89, {86})), "native: tensor cores");
  EXPECT_EQ(verdict(*find_mode("bf16-mixed"), gpu("A10", 86, {89})).verdict,
            SupportLevel::unsupported);
  EXPECT_EQ(verdict(*find_mode("bf16-mixed"), gpu("H100", 90, {80})).verdict,
            SupportLevel::unsupported);
}

TEST(Verdict, TakesPortableCodeOnNewerCards) {
  DeviceFacts newer = gpu("RTX 5090", 120, {75, 80, 86, 90});
  EXPECT_EQ(verdict(*find_mode("16-mixed"), newer).verdict, SupportLevel::unsupported);
  newer.portable_architectures = {90};
  EXPECT_EQ(said("16-mixed", newer), "native: tensor cores");
  newer.compute_capability = 75;  // a driver compiles forwards, never back
  newer.binary_architectures = {80};
  EXPECT_EQ(verdict(*find_mode("16-mixed"), newer).verdict, SupportLevel::unsupported);
}

TEST(Verdict, IsNotImpressedByNames) {
  // A T400 is not a T4, an L40S not an L4: whatever the name, the number decides.
  EXPECT_EQ(said("bf16-mixed", gpu("NVIDIA A100", 75)), said("bf16-mixed", gpu("Tesla T4", 75)));
  EXPECT_EQ(said("transformer-engine", gpu("Tesla T4", 90)), "native: tensor cores");
}

TEST(Verdict, JudgesASimulatedCardAsTheRealOne) {
  DeviceFacts simulated = gpu("Tesla T4", 75);
  simulated.kind = "simulated";
  EXPECT_EQ(said("bf16-mixed", simulated), "emulated: native from Ampere, 8.0");
}

TEST(Verdict, RefusesAGpuWithoutAComputeCapability) {
  EXPECT_EQ(said("32-true", gpu("?", 0)),
            "unsupported: the device does not tell its compute capability");
}

}  // namespace
}  // namespace precbench::platform_verdict_test
