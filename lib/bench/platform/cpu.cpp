#include "bench/platform/cpu.h"

#include <sys/utsname.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "bench/files/text_file.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace precbench {
namespace {

// Bits of CPUID leaf 7, subleaf 1 (Intel 64 and IA-32 Architectures Software Developer's Manual,
// CPUID).
constexpr uint32_t kAmxFp16 = 1U << 21;      // eax
constexpr uint32_t kAvxVnniInt8 = 1U << 4;   // edx
constexpr uint32_t kAvxNeConvert = 1U << 5;  // edx

// ARM's cores have no name in /proc/cpuinfo, only the numbers of the main ID register. Those of
// servers and boards that people train on; Arm's technical reference manuals, MIDR_EL1.
struct ArmPart {
  int64_t implementer, part;
  std::string_view name;
};
constexpr ArmPart kArmParts[] = {
    {0x41, 0xd03, "Arm Cortex-A53"},  {0x41, 0xd08, "Arm Cortex-A72"},
    {0x41, 0xd0b, "Arm Cortex-A76"},  {0x41, 0xd0c, "Arm Neoverse N1"},
    {0x41, 0xd40, "Arm Neoverse V1"}, {0x41, 0xd42, "Arm Cortex-A78AE"},
    {0x41, 0xd49, "Arm Neoverse N2"}, {0x41, 0xd4f, "Arm Neoverse V2"},
    {0x46, 0x001, "Fujitsu A64FX"},   {0xc0, 0xac3, "Ampere-1"},
    {0xc0, 0xac4, "Ampere-1A"},
};

std::string arm_model(std::string_view implementer, std::string_view part) {
  const auto number = [](std::string_view text) -> std::optional<int64_t> {
    if (!text.starts_with("0x")) return std::nullopt;
    return whole_number(text.substr(2), 16);
  };
  const auto by = number(implementer);
  const auto which = number(part);
  for (const ArmPart& known : kArmParts) {
    if (by == known.implementer && which == known.part) return std::string(known.name);
  }
  if (implementer.empty() || part.empty()) return {};
  return "ARM, implementer " + std::string(implementer) + ", part " + std::string(part);
}

// Keeps `facts.flags` in the order of kPrecisionFlags, each once.
void set_flags(CpuFacts& facts, const std::set<std::string_view>& present) {
  std::vector<std::string> flags;
  for (const std::string_view flag : kPrecisionFlags) {
    if (present.count(flag) != 0 || facts.has(flag)) flags.emplace_back(flag);
  }
  facts.flags = std::move(flags);
}

}  // namespace

bool CpuFacts::has(std::string_view flag) const {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

CpuFacts parse_cpuinfo(std::string_view text) {
  CpuFacts facts;
  std::string_view implementer, part, package;
  std::set<std::pair<std::string_view, std::string_view>> cores;  // package, core
  for (const std::string_view line : lines_of(text)) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (key == "processor" && whole_number(value)) ++facts.logical_cores;
    if (key == "model name" && facts.model.empty()) facts.model = std::string(value);
    if (key == "physical id") package = value;
    if (key == "core id") cores.emplace(package, value);
    if (key == "CPU implementer" && implementer.empty()) implementer = value;
    if (key == "CPU part" && part.empty()) part = value;
    if ((key == "flags" || key == "Features") && !facts.flags_known) {
      const auto words = words_of(value);
      set_flags(facts, {words.begin(), words.end()});
      facts.flags_known = true;
      facts.architecture = key == "flags" ? "x86_64" : "aarch64";
    }
  }
  if (facts.model.empty()) facts.model = arm_model(implementer, part);
  facts.physical_cores = cores.empty() ? facts.logical_cores : static_cast<int64_t>(cores.size());
  return facts;
}

void add_cpuid_flags(CpuFacts& facts, uint32_t leaf7_1_eax, uint32_t leaf7_1_edx) {
  std::set<std::string_view> present;
  if (facts.has("amx_tile") && (leaf7_1_eax & kAmxFp16) != 0) present.insert("amx_fp16");
  if (facts.has("avx2") && (leaf7_1_edx & kAvxVnniInt8) != 0) present.insert("avx_vnni_int8");
  if (facts.has("avx2") && (leaf7_1_edx & kAvxNeConvert) != 0) present.insert("avx_ne_convert");
  set_flags(facts, present);
}

CpuFacts read_cpu_facts() {
  CpuFacts facts = parse_cpuinfo(read_text_file("/proc/cpuinfo").value_or(""));
  utsname system{};
  if (uname(&system) == 0) facts.architecture = system.machine;
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && eax >= 1) {
    __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx);
    add_cpuid_flags(facts, eax, edx);
  }
#endif
  return facts;
}

}  // namespace precbench
