// Views of a result document that every reader of it shares: which runs count, what a metric of a
// mode amounts to, which mode the others are compared with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/result/document.h"
#include "bench/stats/estimate.h"
#include "common/metrics.h"

namespace precbench {

// Runs that count in figures: role measure, status ok.
std::vector<const RunRecord*> measured_runs(const ModeRecord& mode);

// One value per seed, averaged over its repeats: repeats of a seed say nothing new of accuracy.
std::map<int64_t, double> values_by_seed(const ModeRecord& mode, const MetricTraits& metric);

// Accuracy: over seeds. Everything else: over all runs, with the spread of repeats within a seed.
// The two kinds of noise are never mixed. Nothing when no run knows the metric.
std::optional<Estimate> metric_estimate(const ModeRecord& mode, const MetricTraits& metric);

// Why metric_estimate has nothing: the reason that a run gives, or that no run is ok.
std::string metric_unknown_reason(const ModeRecord& mode, const MetricTraits& metric);

const ModeRecord* find_mode_record(const ResultDocument& document, const std::string& mode);

// The mode that others are compared with: the one asked for if a run of it is ok, else the first
// with an ok run. Null when there is none.
const ModeRecord* reference_mode(const ResultDocument& document);

// Samples that accuracies are shares of, after the limits, and classes; nothing where the file does
// not tell.
struct DataSizes {
  std::optional<int64_t> train, test, classes;
};
DataSizes data_sizes(const ResultDocument& document);

// That train each model together.
int64_t devices_of(const ResultDocument& document);

// Milliseconds of each step that was kept, where known. The first step is apart: it allocates and
// compiles.
std::vector<double> later_steps_ms(const RunRecord& run);

bool has_mark(const ModeRecord& mode, const std::string& id);

// "busy n=1"
std::string mark_ids(const ModeRecord& mode);

// The text at a path of keys in a JSON object ("device", "name"), or nothing: files from elsewhere
// may lack any of it.
std::optional<std::string> text_at(const json& object, std::initializer_list<const char*> path);

}  // namespace precbench
