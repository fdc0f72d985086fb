#include "bench/text/figures.h"

#include <fmt/format.h>

#include "bench/text/units.h"

namespace precbench {

std::string figure_text(const std::optional<Estimate>& value, const MetricTraits& metric) {
  if (!value) return "-";
  const auto with_spread = [&](const char* unit) {
    return value->std ? fmt::format("{:.2f} ± {:.2f} {}", value->mean, *value->std, unit)
                      : fmt::format("{:.2f} {}", value->mean, unit);
  };
  switch (metric.unit) {
    case MetricUnit::seconds:
      return duration_text(*value);
    case MetricUnit::milliseconds:
      return with_spread("ms");
    case MetricUnit::bytes:
      return mebibytes_text(value->mean) + " MiB";
    case MetricUnit::fraction:
      return percent_text(*value);
    case MetricUnit::per_second:
      break;
  }
  return with_spread("/s");
}

}  // namespace precbench
