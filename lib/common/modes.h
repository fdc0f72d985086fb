// The precision modes: one table, read by the command line's help, the planner, the verdicts, the
// worker, the recipe in the JSON and the docs. A new mode is a row here and, if it behaves in a new
// way, one class in lib/train/precision/. Names, aliases and semantics are Lightning Fabric's
// (fabric/connector.py); `tf32` is ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/dtype.h"

namespace precbench {

// Which hardware support a mode needs to be native; lib/bench/platform/verdict.h turns it into a
// verdict.
enum class NativeSupport { any, float16, bfloat16, float64, float8, tf32 };

// Which implementation of the Precision hooks runs the mode (lib/train/precision/).
enum class PrecisionFamily { full, mixed, true_dtype, transformer_engine };

struct ModeTraits {
  std::string_view name;
  std::string_view alias = {};        // Fabric's short spelling
  bool alias_is_discouraged = false;  // Fabric warns about "16" and "bf16", not about "32" and "64"
  PrecisionFamily family;
  Dtype parameters;  // dtype of parameters and float buffers, so of gradients and optimizer state
  Dtype compute;     // dtype of matmuls and convolutions
  bool autocast = false;
  bool grad_scaler = false;
  bool tf32 = false;                    // whatever --tf32 says
  std::string_view fabric_on_cpu = {};  // the mode that Fabric runs in its place on a CPU
  NativeSupport native;
  std::string_view native_from;  // in words people know
  std::string_view summary;      // one line for `precbench list modes`
  // What to write in one's own code, where it is no value of Fabric(precision=...).
  std::string_view code = {};
};

inline constexpr std::string_view kAnyDevice = "any device";
inline constexpr std::string_view kFromVolta =
    "native from Volta (7.0); CPUs with avx512_fp16 or amx_fp16";
inline constexpr std::string_view kFromAmpere =
    "native from Ampere (8.0); CPUs with avx512_bf16 or amx_bf16";
inline constexpr std::string_view kFromAda = "native from Ada and Hopper (8.9)";

inline constexpr ModeTraits kModes[] = {
    {.name = "32-true",
     .alias = "32",
     .family = PrecisionFamily::full,
     .parameters = Dtype::float32,
     .compute = Dtype::float32,
     .native = NativeSupport::any,
     .native_from = kAnyDevice,
     .summary = "plain fp32; TF32 as --tf32 says"},
    {.name = "16-mixed",
     .alias = "16",
     .alias_is_discouraged = true,
     .family = PrecisionFamily::mixed,
     .parameters = Dtype::float32,
     .compute = Dtype::float16,
     .autocast = true,
     .grad_scaler = true,
     .fabric_on_cpu = "bf16-mixed",
     .native = NativeSupport::float16,
     .native_from = kFromVolta,
     .summary = "fp32 weights, fp16 autocast, loss scaling"},
    {.name = "bf16-mixed",
     .alias = "bf16",
     .alias_is_discouraged = true,
     .family = PrecisionFamily::mixed,
     .parameters = Dtype::float32,
     .compute = Dtype::bfloat16,
     .autocast = true,
     .native = NativeSupport::bfloat16,
     .native_from = kFromAmpere,
     .summary = "fp32 weights, bf16 autocast"},
    {.name = "16-true",
     .family = PrecisionFamily::true_dtype,
     .parameters = Dtype::float16,
     .compute = Dtype::float16,
     .native = NativeSupport::float16,
     .native_from = kFromVolta,
     .summary = "everything in fp16, no loss scaling"},
    {.name = "bf16-true",
     .family = PrecisionFamily::true_dtype,
     .parameters = Dtype::bfloat16,
     .compute = Dtype::bfloat16,
     .native = NativeSupport::bfloat16,
     .native_from = kFromAmpere,
     .summary = "everything in bf16"},
    {.name = "64-true",
     .alias = "64",
     .family = PrecisionFamily::true_dtype,
     .parameters = Dtype::float64,
     .compute = Dtype::float64,
     .native = NativeSupport::float64,
     .native_from = "any device; 1/32 rate and less on most consumer GPUs",
     .summary = "everything in fp64"},
    {.name = "transformer-engine",
     .family = PrecisionFamily::transformer_engine,
     .parameters = Dtype::bfloat16,
     .compute = Dtype::float8,
     .autocast = true,
     .native = NativeSupport::float8,
     .native_from = kFromAda,
     .summary = "bf16 weights, FP8 matmuls in eligible Linear layers"},
    {.name = "transformer-engine-float16",
     .family = PrecisionFamily::transformer_engine,
     .parameters = Dtype::float16,
     .compute = Dtype::float8,
     .autocast = true,
     .native = NativeSupport::float8,
     .native_from = kFromAda,
     .summary = "fp16 weights, FP8 matmuls in eligible Linear layers"},
    {.name = "tf32",
     .family = PrecisionFamily::full,
     .parameters = Dtype::float32,
     .compute = Dtype::float32,
     .tf32 = true,
     .native = NativeSupport::tf32,
     .native_from = "native from Ampere (8.0)",
     .summary = "fp32 with TF32 matmuls (ours, not Fabric's)",
     .code = "torch.set_float32_matmul_precision(\"high\") before "
             "Trainer(precision=\"32-true\") or Fabric(precision=\"32-true\")"},
};

// The mode of that name or alias, or null. Case-sensitive and untrimmed, as Fabric.
const ModeTraits* find_mode(std::string_view name);

// Whether a run of `mode` may have been one of `effective`: --cpu-fp16 fabric does on a CPU what
// Fabric does there.
bool may_run_as(std::string_view mode, std::string_view effective);

// The number format that a mode computes in, as the probe names it: tf32, or its compute dtype.
std::string compute_format(const ModeTraits& mode);

// All names in the table's order, without aliases.
std::vector<std::string> mode_names();

}  // namespace precbench
