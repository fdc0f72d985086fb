// The precision modes: one table, read by the command line's help, the planner, the verdicts, the
// worker, the recipe in the JSON and the docs. A new mode is a row here and, if it behaves in a new
// way, one class in lib/train/precision/. Names, aliases and semantics are Lightning Fabric's
// (fabric/connector.py); `tf32` is ours.
#pragma once

#include <array>
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
  std::string_view alias;     // Fabric's short spelling; empty where it has none
  bool alias_is_discouraged;  // Fabric warns about "16" and "bf16", not about "32" and "64"
  PrecisionFamily family;
  Dtype parameters;  // dtype of parameters and float buffers, so of gradients and optimizer state
  Dtype compute;     // dtype of matmuls and convolutions
  bool autocast;
  bool grad_scaler;
  NativeSupport native;
  bool is_fabric;                // a value of Fabric(precision=...)
  std::string_view native_from;  // in words people know
  std::string_view summary;      // one line for `precbench list modes`
};

inline constexpr std::array<ModeTraits, 9> kModes = {{
    {"32-true", "32", false, PrecisionFamily::full, Dtype::float32, Dtype::float32, false, false,
     NativeSupport::any, true, "any device", "plain fp32; TF32 as --tf32 says"},
    {"16-mixed", "16", true, PrecisionFamily::mixed, Dtype::float32, Dtype::float16, true, true,
     NativeSupport::float16, true, "native from Volta (7.0); CPUs with avx512_fp16 or amx_fp16",
     "fp32 weights, fp16 autocast, loss scaling"},
    {"bf16-mixed", "bf16", true, PrecisionFamily::mixed, Dtype::float32, Dtype::bfloat16, true,
     false, NativeSupport::bfloat16, true,
     "native from Ampere (8.0); CPUs with avx512_bf16 or amx_bf16", "fp32 weights, bf16 autocast"},
    {"16-true", "", false, PrecisionFamily::true_dtype, Dtype::float16, Dtype::float16, false,
     false, NativeSupport::float16, true,
     "native from Volta (7.0); CPUs with avx512_fp16 or amx_fp16",
     "everything in fp16, no loss scaling"},
    {"bf16-true", "", false, PrecisionFamily::true_dtype, Dtype::bfloat16, Dtype::bfloat16, false,
     false, NativeSupport::bfloat16, true,
     "native from Ampere (8.0); CPUs with avx512_bf16 or amx_bf16", "everything in bf16"},
    {"64-true", "64", false, PrecisionFamily::true_dtype, Dtype::float64, Dtype::float64, false,
     false, NativeSupport::float64, true, "any device; 1/32 rate and less on most consumer GPUs",
     "everything in fp64"},
    {"transformer-engine", "", false, PrecisionFamily::transformer_engine, Dtype::bfloat16,
     Dtype::float8, true, false, NativeSupport::float8, true, "native from Ada and Hopper (8.9)",
     "bf16 weights, FP8 matmuls in eligible Linear layers"},
    {"transformer-engine-float16", "", false, PrecisionFamily::transformer_engine, Dtype::float16,
     Dtype::float8, true, false, NativeSupport::float8, true, "native from Ada and Hopper (8.9)",
     "fp16 weights, FP8 matmuls in eligible Linear layers"},
    {"tf32", "", false, PrecisionFamily::full, Dtype::float32, Dtype::float32, false, false,
     NativeSupport::tf32, false, "native from Ampere (8.0)",
     "fp32 with TF32 matmuls (ours, not Fabric's)"},
}};

// The mode of that name or alias, or null. Case-sensitive and untrimmed, as Fabric.
const ModeTraits* find_mode(std::string_view name);

// The number format that a mode computes in, as the probe names it: tf32, or its compute dtype.
std::string compute_format(const ModeTraits& mode);

// All names in the table's order, without aliases.
std::vector<std::string> mode_names();

}  // namespace precbench
