#include "bench/probe/probe_report.h"

#include <fmt/format.h>

#include "bench/platform/verdict.h"
#include "common/data_sheets.h"
#include "common/fields_json.h"

namespace precbench {
namespace {

std::optional<double> number_at(const json& probed, const std::string& format, const char* part) {
  const json::json_pointer path("/formats/" + format + "/" + part + "/tflops");
  if (!probed.contains(path) || !probed.at(path).is_number()) return std::nullopt;
  return probed.at(path).get<double>();
}

// The worker's reason, or why it was not asked.
std::string reason_for(const json& probed, const std::string& format, const char* part) {
  const json::json_pointer path("/formats/" + format + "/unknown/" + part);
  if (probed.contains(path) && probed.at(path).is_string()) return probed.at(path);
  return "the rate of " + format + " is not measured in this version";
}

std::optional<double> ratio(const std::optional<double>& rate, const std::optional<double>& base) {
  if (!rate || !base || *base <= 0) return std::nullopt;
  return *rate / *base;
}

// Double and single precision have no units of their own that a verdict would be about.
bool is_reduced(const std::string& format) { return format != "float32" && format != "float64"; }

std::optional<std::string> contradiction(const ProbeRow& row) {
  if (!row.gemm_ratio || !is_reduced(row.format)) return std::nullopt;
  const bool is_native = row.support.verdict == SupportLevel::native;
  const bool is_emulated = row.support.verdict == SupportLevel::emulated;
  if ((is_native && *row.gemm_ratio < kNativeAtLeast) ||
      (is_emulated && *row.gemm_ratio > kEmulatedAtMost)) {
    return fmt::format("{} is declared {} but runs at {:.2g}x of float32 here", row.format,
                       name_of(row.support.verdict), *row.gemm_ratio);
  }
  return std::nullopt;
}

ProbeRow row_for(const ModeTraits& mode, const DeviceFacts& device, const json& probed) {
  ProbeRow row;
  row.mode = mode.name;
  row.support = verdict(mode, device);
  row.format = compute_format(mode);
  row.gemm_tflops = number_at(probed, row.format, "gemm");
  row.convolution_tflops = number_at(probed, row.format, "convolution");
  row.gemm_ratio = ratio(row.gemm_tflops, number_at(probed, "float32", "gemm"));
  row.convolution_ratio =
      ratio(row.convolution_tflops, number_at(probed, "float32", "convolution"));
  row.spec_tflops = data_sheet_tflops(device.name, row.format);
  row.contradicts = contradiction(row);
  if (!row.gemm_tflops) {
    row.unknown["gemm_tflops"] = row.unknown["gemm_ratio"] = reason_for(probed, row.format, "gemm");
  }
  if (!row.convolution_tflops) {
    row.unknown["convolution_tflops"] = row.unknown["convolution_ratio"] =
        reason_for(probed, row.format, "convolution");
  }
  if (!row.spec_tflops) {
    row.unknown["spec_tflops"] = "no data sheet figure is known for exactly this device and format";
  }
  return row;
}

}  // namespace

std::vector<ProbeRow> probe_rows(const DeviceFacts& device, const json& probed) {
  std::vector<ProbeRow> rows;
  for (const ModeTraits& mode : kModes) rows.push_back(row_for(mode, device, probed));
  return rows;
}

json to_json(const ProbeRow& row) {
  json object = {{"mode", row.mode},
                 {"support", json_of(row.support)},
                 {"compute_dtype", row.format},
                 {"gemm_tflops", nullable(row.gemm_tflops)},
                 {"gemm_ratio", nullable(row.gemm_ratio)},
                 {"convolution_tflops", nullable(row.convolution_tflops)},
                 {"convolution_ratio", nullable(row.convolution_ratio)},
                 {"spec_tflops", nullable(row.spec_tflops)},
                 {"contradicts", nullable(row.contradicts)}};
  object["unknown"] = row.unknown;
  if (!row.contradicts) {
    object["unknown"]["contradicts"] = "nothing measured contradicts the verdict";
  }
  return object;
}

}  // namespace precbench
