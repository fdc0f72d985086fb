#include "bench/probe/ceiling.h"

#include <algorithm>

#include "bench/probe/probe_report.h"
#include "bench/result/measured.h"
#include "common/data_sheets.h"

namespace precbench {

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

}  // namespace precbench
