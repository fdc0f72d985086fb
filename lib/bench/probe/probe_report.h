// What `precbench probe` says: one row for each mode, its verdict beside what was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/platform/device_facts.h"
#include "bench/result/document.h"
#include "common/modes.h"

namespace precbench {

struct ProbeRow {
  std::string mode;
  Support support;
  std::string format;  // that the mode computes in: float32, tf32, bfloat16, ...
  // TFLOP/s of a linear layer's and a convolution's products, forward and backward, and the same
  // relative to float32.
  std::optional<double> gemm_tflops, gemm_ratio, convolution_tflops, convolution_ratio;
  std::optional<double> spec_tflops;       // of the GEMM, by the vendor's data sheet
  std::optional<std::string> contradicts;  // a sentence where verdict and measurement disagree
  Unknowns unknown;
};

// `probed`: the worker's answer (lib/train/probe/probe.h).
std::vector<ProbeRow> probe_rows(const DeviceFacts& device, const json& probed);

// The row's part of the JSON document.
json to_json(const ProbeRow& row);

// A native format that is slower than this share of float32's rate, and an emulated one that is
// faster than that multiple, contradict their verdict.
inline constexpr double kNativeAtLeast = 0.9;
inline constexpr double kEmulatedAtMost = 1.2;

}  // namespace precbench
