// The metrics that tables, summaries, `--fail-on` and `matrix` speak of: one table.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "common/run_record.h"

namespace precbench {

enum class MetricUnit { seconds, milliseconds, bytes, fraction, per_second };
enum class BetterWhen { lower, higher };

struct MetricTraits {
  std::string_view name;       // as in --fail-on
  std::string_view json_path;  // inside a run of the result file
  std::string_view title;
  MetricUnit unit;
  BetterWhen better;
  std::optional<double> (*value)(const RunRecord& run);
};

inline constexpr std::array<MetricTraits, 6> kMetrics = {{
    {"time", "time.total_s", "total time", MetricUnit::seconds, BetterWhen::lower,
     [](const RunRecord& run) { return run.time.total_s; }},
    {"step_time", "time.step_ms.median", "median step time", MetricUnit::milliseconds,
     BetterWhen::lower, [](const RunRecord& run) { return run.time.step_ms.median; }},
    {"memory", "memory.peak_allocated_bytes", "peak memory", MetricUnit::bytes, BetterWhen::lower,
     [](const RunRecord& run) {
       const auto& bytes = run.memory.peak_allocated_bytes;
       return bytes ? std::optional<double>(static_cast<double>(*bytes)) : std::nullopt;
     }},
    {"train_accuracy", "train_accuracy", "train accuracy", MetricUnit::fraction, BetterWhen::higher,
     [](const RunRecord& run) { return run.train_accuracy; }},
    {"test_accuracy", "test_accuracy", "test accuracy", MetricUnit::fraction, BetterWhen::higher,
     [](const RunRecord& run) { return run.test_accuracy; }},
    {"throughput", "time.samples_per_s", "training samples per second", MetricUnit::per_second,
     BetterWhen::higher, [](const RunRecord& run) { return run.time.samples_per_s; }},
}};

// What steps of different batches are compared by; the inverse of throughput.
inline constexpr MetricTraits kSampleTime = {
    "sample_time",
    "time.samples_per_s",
    "time of a training sample",
    MetricUnit::milliseconds,
    BetterWhen::lower,
    [](const RunRecord& run) {
      const auto& rate = run.time.samples_per_s;
      return rate && *rate > 0 ? std::optional<double>(1e3 / *rate) : std::nullopt;
    }};

const MetricTraits* find_metric(std::string_view name);

}  // namespace precbench
