#include "bench/platform/verdict.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace precbench {
namespace {

Support native(std::string why = "") { return {SupportLevel::native, std::move(why)}; }
Support no_fast_path(std::string why) { return {SupportLevel::no_fast_path, std::move(why)}; }
Support emulated(std::string why) { return {SupportLevel::emulated, std::move(why)}; }
Support unsupported(std::string why) { return {SupportLevel::unsupported, std::move(why)}; }

// ---- GPUs ---------------------------------------------------------------------------------------

// First compute capabilities of each unit (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr int kHalfArithmetic = 53;  // fp16 add and multiply
constexpr int kTensorCores = 70;     // fp16 matrix units: Volta
constexpr int kAmpere = 80;          // bf16 and TF32 matrix units
constexpr int kFloat8 = 89;          // Ada; Hopper is 9.0

// How many fp32 operations a card does in the time of one fp64 operation (same guide, throughput of
// arithmetic instructions).
int fp64_slowdown(int capability) {
  switch (capability) {
    case 60:
    case 70:
    case 80:
    case 90:
    case 100:
      return 2;
    default:
      return capability >= 86 ? 64 : 32;
  }
}

Support gpu_float64(int capability) {
  const int slowdown = fp64_slowdown(capability);
  if (slowdown > 2) return no_fast_path("1/" + std::to_string(slowdown) + " of the fp32 rate");
  return capability >= kAmpere ? native("tensor cores") : native();
}

Support gpu_float16(int capability) {
  if (capability >= kTensorCores) return native("tensor cores");
  if (capability < kHalfArithmetic) return emulated("native from Volta, 7.0");
  // Pascal's consumer cards keep a single fp16 unit beside each 64 fp32 ones; 5.3, 6.0 and 6.2 do
  // two fp16 operations in the time of an fp32 one.
  if (capability == 61) return no_fast_path("1/64 of the fp32 rate; tensor cores from Volta, 7.0");
  return no_fast_path("no tensor cores; they come with Volta, 7.0");
}

// A kernel runs on the minor versions of its own major one, from its own upwards; portable code is
// compiled by the driver for anything newer (CUDA C++ Programming Guide, "Application
// Compatibility").
bool has_kernels(const DeviceFacts& device) {
  const int capability = device.compute_capability;
  const auto runs = [&](int sm) { return sm / 10 == capability / 10 && sm <= capability; };
  const auto compiles = [&](int portable) { return portable <= capability; };
  const auto& binary = device.binary_architectures;
  const auto& portable = device.portable_architectures;
  return (binary.empty() && portable.empty()) || std::any_of(binary.begin(), binary.end(), runs) ||
         std::any_of(portable.begin(), portable.end(), compiles);
}

// Which LibTorch has kernels for the card. PyTorch's releases: builds for CUDA 12.6 hold 5.0 to 9.0
// and end with 2.14; CUDA 12.8 brought Blackwell; CUDA 13 dropped all before 7.5.
Support no_kernels(const DeviceFacts& device) {
  const std::string card = compute_capability_text(device.compute_capability);
  const std::string here =
      "LibTorch " + device.libtorch_version + " has no kernels for " + card + "; ";
  const int generation = device.compute_capability / 10;
  if (generation < 5) return unsupported(here + "build it from source");
  if (generation < 10) return unsupported(here + "a CUDA 12.6 build up to 2.14 has");
  return unsupported(here + "a CUDA 12.8 or newer build has");
}

Support gpu_verdict(const ModeTraits& mode, const DeviceFacts& device) {
  const int capability = device.compute_capability;
  if (capability == 0) return unsupported("the device does not tell its compute capability");
  if (!has_kernels(device)) return no_kernels(device);
  switch (mode.native) {
    case NativeSupport::any:
      return native();
    case NativeSupport::float64:
      return gpu_float64(capability);
    case NativeSupport::float16:
      return gpu_float16(capability);
    case NativeSupport::bfloat16:
      return capability >= kAmpere ? native("tensor cores") : emulated("native from Ampere, 8.0");
    case NativeSupport::tf32:
      return capability >= kAmpere ? native("tensor cores") : unsupported("needs Ampere, 8.0");
    case NativeSupport::float8:
      return capability >= kFloat8 ? native("tensor cores")
                                   : emulated("native from Ada and Hopper, 8.9");
  }
  return unsupported("no rule for this mode");
}

// ---- CPUs ---------------------------------------------------------------------------------------

// An instruction set of oneDNN, which computes LibTorch's matmuls and convolutions: the flag that
// it is known by and what else oneDNN asks for before it uses it (oneDNN, cpu_isa_traits.hpp).
struct InstructionSet {
  std::string_view flag;
  std::initializer_list<std::string_view> also;
};

// The first one of which every flag is there is the verdict's reason.
Support by_instruction_set(const CpuFacts& cpu, std::initializer_list<InstructionSet> sets,
                           const std::string& none) {
  std::string incomplete;
  for (const InstructionSet& set : sets) {
    if (!cpu.has(set.flag)) continue;
    const auto missing = std::find_if(set.also.begin(), set.also.end(),
                                      [&](std::string_view flag) { return !cpu.has(flag); });
    if (missing == set.also.end()) return native(std::string(set.flag));
    if (incomplete.empty()) {
      incomplete = std::string(set.flag) + " is not used without " + std::string(*missing);
    }
  }
  return emulated(incomplete.empty() ? none : incomplete);
}

Support cpu_float16(const CpuFacts& cpu) {
  if (cpu.architecture == "aarch64") {
    return by_instruction_set(cpu, {{"asimdhp", {"fphp"}}}, "no fp16 instructions here");
  }
  return by_instruction_set(
      cpu,
      {{"amx_fp16", {"amx_tile", "amx_int8", "amx_bf16", "avx512_fp16"}},
       {"avx512_fp16",
        {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vnni", "avx512_bf16", "avx_vnni"}},
       {"avx_ne_convert", {"avx2", "avx_vnni", "avx_vnni_int8"}}},  // oneDNN's avx2_vnni_2
      "no avx512_fp16 or amx_fp16 here");
}

Support cpu_bfloat16(const CpuFacts& cpu) {
  if (cpu.architecture == "aarch64") {
    return by_instruction_set(cpu, {{"bf16", {}}}, "no bf16 instructions here");
  }
  return by_instruction_set(
      cpu,
      {{"amx_bf16", {"amx_tile", "amx_int8", "avx512_fp16"}},
       {"avx512_bf16", {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vnni"}},
       {"avx_ne_convert", {"avx2", "avx_vnni", "avx_vnni_int8"}}},
      "no avx512_bf16 or amx_bf16 here");
}

Support cpu_verdict(const ModeTraits& mode, const CpuFacts& cpu) {
  switch (mode.native) {
    case NativeSupport::any:
    case NativeSupport::float64:
      return native();
    case NativeSupport::float16:
      return cpu.flags_known ? cpu_float16(cpu) : emulated("this CPU's flags cannot be read");
    case NativeSupport::bfloat16:
      return cpu.flags_known ? cpu_bfloat16(cpu) : emulated("this CPU's flags cannot be read");
    case NativeSupport::tf32:
      return unsupported("needs a GPU from Ampere, 8.0");
    case NativeSupport::float8:
      // oneDNN converts FP8 to another type even where it uses AMX.
      return emulated("native on GPUs from Ada and Hopper, 8.9");
  }
  return unsupported("no rule for this mode");
}

}  // namespace

Support verdict(const ModeTraits& mode, const DeviceFacts& device) {
  return device.kind == "cpu" ? cpu_verdict(mode, device.cpu) : gpu_verdict(mode, device);
}

}  // namespace precbench
