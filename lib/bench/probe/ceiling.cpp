#include "bench/probe/ceiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/probe/probe_report.h"
#include "bench/result/measured.h"
#include "bench/stats/outliers.h"
#include "common/data_sheets.h"

namespace precbench {
namespace {

std::optional<double> median_tflops(const ModeRecord& mode) {
  std::vector<double> rates;
  for (const RunRecord* run : measured_runs(mode)) {
    if (run->time.tflops) rates.push_back(*run->time.tflops);
  }
  if (rates.empty()) return std::nullopt;
  return median_of(rates);
}

}  // namespace

std::optional<Ceiling> ceiling_of(const ModeTraits& mode, const DeviceFacts& device,
                                  const std::optional<json>& probe) {
  const std::string format = compute_format(mode);
  if (probe && text_at(*probe, {"environment", "device", "name"}) == device.name) {
    const auto formats = probe->find("formats");
    const json rates = formats == probe->end() ? json() : *formats;
    double best = 0;
    for (const ProbeRow& row : probe_rows(device, {{"formats", rates}})) {
      if (row.mode != mode.name) continue;
      best = std::max(row.gemm_tflops.value_or(0), row.convolution_tflops.value_or(0));
    }
    if (best > 0) return Ceiling{best, format, "precbench probe"};
  }
  const auto promised = data_sheet_tflops(device.name, format);
  if (device.kind != "cuda" || !promised) return std::nullopt;
  return Ceiling{*promised, format, "data sheet"};
}

std::optional<std::string> ceiling_note(const ModeRecord& mode) {
  const auto reached = median_tflops(mode);
  if (!reached || !mode.ceiling) return std::nullopt;
  return fmt::format(
      "{:.3g} TFLOP/s in matrix products and convolutions, {:.0f} % of {}'s rate {} ({})", *reached,
      100 * *reached / mode.ceiling->tflops, mode.ceiling->format,
      mode.ceiling->source == "data sheet" ? "as promised" : "measured here", mode.ceiling->source);
}

std::optional<Mark> too_small_mark(const ModeRecord& mode) {
  const auto reached = median_tflops(mode);
  if (!reached || !mode.ceiling) return std::nullopt;
  const double share = *reached / mode.ceiling->tflops;
  if (share >= kTooSmallShare) return std::nullopt;
  return Mark{"too-small", fmt::format("reaches {:.1f} % of {}'s rate: launches take the time",
                                       100 * share, mode.ceiling->format)};
}

}  // namespace precbench
