// What the processor is, and which of its instructions matter for precision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace precbench {

struct CpuFacts {
  std::string model;               // "AMD EPYC 9654 96-Core Processor"; empty = unknown
  std::string architecture;        // x86_64 | aarch64 | as uname calls it
  std::vector<std::string> flags;  // those of kPrecisionFlags that are there, in that order
  bool flags_known = false;        // false: `flags` is empty because nothing could be read
  int64_t logical_cores = 0;       // of the machine, not of this process; 0 = unknown
  int64_t physical_cores = 0;      // as logical_cores where the kernel does not tell them apart
  bool has(std::string_view flag) const;
};

// Linux's names in /proc/cpuinfo, x86-64 first, then ARM.
inline constexpr std::string_view kPrecisionFlags[] = {
    "avx2",     "avx512f",     "avx512bw",    "avx512vl",      "avx512dq",
    "avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16",   "amx_tile",
    "amx_int8", "amx_bf16",    "amx_fp16",    "avx_vnni_int8", "avx_ne_convert",
    "fphp",     "asimdhp",     "bf16",        "i8mm",          "sve",
};

// From the text of /proc/cpuinfo.
CpuFacts parse_cpuinfo(std::string_view text);

// Linux keeps amx_fp16, avx_vnni_int8 and avx_ne_convert out of /proc/cpuinfo (cpufeatures.h). Adds
// them to `facts` from CPUID leaf 7, subleaf 1, where the system also saves their registers, which
// amx_tile and avx2 in /proc/cpuinfo say.
void add_cpuid_flags(CpuFacts& facts, uint32_t leaf7_1_eax, uint32_t leaf7_1_edx);

CpuFacts read_cpu_facts();

}  // namespace precbench
