#include "common/metrics.h"

namespace precbench {

const MetricTraits* find_metric(std::string_view name) {
  for (const MetricTraits& metric : kMetrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

}  // namespace precbench
