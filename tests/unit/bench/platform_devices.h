// Devices that people train on, as facts, and what each of them does with each kind of precision.
// Expectations are the vendors' (CUDA C++ Programming Guide, compute capabilities and arithmetic
// throughput; oneDNN's dispatch by instruction set), written by hand.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/platform/device_facts.h"
#include "common/modes.h"

namespace precbench::testing {

struct KnownDevice {
  std::string label;
  DeviceFacts facts;
  std::map<NativeSupport, std::string> verdicts;  // what must come out
};

inline DeviceFacts gpu(const std::string& name, int capability,
                       const std::vector<int>& binary_architectures = {},
                       const std::string& libtorch = "2.11.0") {
  DeviceFacts facts;
  facts.kind = "cuda";
  facts.name = name;
  facts.compute_capability = capability;
  facts.binary_architectures = binary_architectures;
  facts.libtorch_version = libtorch;
  return facts;
}

inline DeviceFacts cpu(const std::string& name, const std::string& architecture,
                       std::initializer_list<std::string_view> flags) {
  DeviceFacts facts;
  facts.name = name;
  facts.libtorch_version = "2.11.0";
  facts.cpu.model = name;
  facts.cpu.architecture = architecture;
  facts.cpu.flags.assign(flags.begin(), flags.end());
  facts.cpu.flags_known = true;
  return facts;
}

// In the order fp32, fp64, fp16, bf16, fp8, tf32; n = native, r = no_fast_path (reduced),
// e = emulated, u = unsupported.
inline std::map<NativeSupport, std::string> verdicts(std::string_view letters) {
  constexpr NativeSupport kOrder[] = {NativeSupport::any,     NativeSupport::float64,
                                      NativeSupport::float16, NativeSupport::bfloat16,
                                      NativeSupport::float8,  NativeSupport::tf32};
  const std::map<char, std::string> words = {
      {'n', "native"}, {'r', "no_fast_path"}, {'e', "emulated"}, {'u', "unsupported"}};
  std::map<NativeSupport, std::string> result;
  for (size_t i = 0; i < letters.size(); ++i) result[kOrder[i]] = words.at(letters[i]);
  return result;
}

inline std::vector<KnownDevice> known_devices() {
  // libtorch.md: the PyPI wheel 2.11.0 is a CUDA 13.0 build with these; a CUDA 12.6 build with
  // those.
  const std::vector<int> cuda13 = {75, 80, 86, 90, 100, 120};
  const std::vector<int> cuda126 = {50, 60, 70, 75, 80, 86, 90};
  const auto entry = [](const std::string& label, DeviceFacts facts, std::string_view letters) {
    return KnownDevice{label, std::move(facts), verdicts(letters)};
  };
  return {
      //                                                                          32 64 16 bf 8 tf
      entry("Tesla P100 (6.0), CUDA 12.6 build", gpu("Tesla P100", 60, cuda126), "nnreeu"),
      entry("Tesla P100 (6.0), CUDA 13 build", gpu("Tesla P100", 60, cuda13), "uuuuuu"),
      entry("GTX 1080 (6.1), CUDA 12.6 build", gpu("GTX 1080", 61, cuda126), "nrreeu"),
      entry("Tesla V100 (7.0), CUDA 12.6 build", gpu("Tesla V100", 70, cuda126), "nnneeu"),
      entry("Tesla V100 (7.0), CUDA 13 build", gpu("Tesla V100", 70, cuda13), "uuuuuu"),
      entry("Tesla T4 (7.5)", gpu("Tesla T4", 75, cuda13), "nrneeu"),
      entry("RTX 2080 (7.5)", gpu("RTX 2080", 75, cuda13), "nrneeu"),
      entry("A100 (8.0)", gpu("A100", 80, cuda13), "nnnnen"),
      entry("RTX 3090 (8.6)", gpu("RTX 3090", 86, cuda13), "nrnnen"),
      entry("A10 (8.6)", gpu("A10", 86, cuda13), "nrnnen"),
      entry("L4 (8.9)", gpu("L4", 89, cuda13), "nrnnnn"),
      entry("L40S (8.9)", gpu("L40S", 89, cuda13), "nrnnnn"),
      entry("RTX 4090 (8.9)", gpu("RTX 4090", 89, cuda13), "nrnnnn"),
      entry("H100 (9.0)", gpu("H100", 90, cuda13), "nnnnnn"),
      entry("H200 (9.0)", gpu("H200", 90, cuda13), "nnnnnn"),
      entry("B200 (10.0)", gpu("B200", 100, cuda13), "nnnnnn"),
      entry("B200 (10.0), CUDA 12.6 build", gpu("B200", 100, cuda126), "uuuuuu"),
      entry("RTX 5090 (12.0)", gpu("RTX 5090", 120, cuda13), "nrnnnn"),
      entry("x86-64 CPU without AVX2", cpu("Ivy Bridge", "x86_64", {}), "nneeeu"),
      entry("x86-64 CPU, AVX2 only", cpu("Zen 3", "x86_64", {"avx2"}), "nneeeu"),
      entry("x86-64 CPU, AVX-512 without bf16 or fp16",
            cpu("Skylake", "x86_64", {"avx2", "avx512f", "avx512bw", "avx512vl", "avx512dq"}),
            "nneeeu"),
      entry("x86-64 CPU, avx512_bf16 without fp16 (AMD Zen 4 and 5)",
            cpu("Zen 5", "x86_64",
                {"avx2", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx_vnni", "avx512_vnni",
                 "avx512_bf16"}),
            "nneneu"),
      entry("x86-64 CPU, avx512_fp16",
            cpu("Sapphire Rapids, AMX off", "x86_64",
                {"avx2", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx_vnni", "avx512_vnni",
                 "avx512_bf16", "avx512_fp16"}),
            "nnnneu"),
      entry("x86-64 CPU, AMX with bf16 (Sapphire Rapids)",
            cpu("Sapphire Rapids", "x86_64",
                {"avx2", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx_vnni", "avx512_vnni",
                 "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"}),
            "nnnneu"),
      entry("x86-64 CPU, AMX with fp16 (Granite Rapids)",
            cpu("Granite Rapids", "x86_64",
                {"avx2", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx_vnni", "avx512_vnni",
                 "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "amx_fp16"}),
            "nnnneu"),
      entry("x86-64 CPU, avx_vnni_int8 and avx_ne_convert (Lunar Lake)",
            cpu("Lunar Lake", "x86_64", {"avx2", "avx_vnni", "avx_vnni_int8", "avx_ne_convert"}),
            "nnnneu"),
      entry("ARM CPU without fp16 arithmetic (Cortex-A72)", cpu("Cortex-A72", "aarch64", {}),
            "nneeeu"),
      entry("ARM CPU, fp16 without bf16 (Neoverse N1)",
            cpu("Neoverse N1", "aarch64", {"fphp", "asimdhp"}), "nnneeu"),
      entry("ARM CPU, fp16 and bf16 (Neoverse V1)",
            cpu("Neoverse V1", "aarch64", {"fphp", "asimdhp", "bf16", "i8mm", "sve"}), "nnnneu"),
  };
}

}  // namespace precbench::testing
