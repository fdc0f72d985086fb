#include "bench/result/measured.h"

#include <algorithm>

#include "common/names.h"

namespace precbench {

std::vector<const RunRecord*> measured_runs(const ModeRecord& mode) {
  std::vector<const RunRecord*> runs;
  for (const RunRecord& run : mode.runs) {
    if (run.role == Role::measure && run.status == Status::ok) runs.push_back(&run);
  }
  return runs;
}

namespace {

std::map<int64_t, std::vector<double>> grouped_by_seed(const ModeRecord& mode,
                                                       const MetricTraits& metric) {
  std::map<int64_t, std::vector<double>> groups;
  for (const RunRecord* run : measured_runs(mode)) {
    if (const auto value = metric.value(*run)) groups[run->seed].push_back(*value);
  }
  return groups;
}

// As their files hold (Xiao et al. 2017).
constexpr int64_t kMnistTrainSamples = 60000;
constexpr int64_t kMnistTestSamples = 10000;

// The whole number over 0 at a path of keys, or nothing.
std::optional<int64_t> positive_at(const json& object, std::initializer_list<const char*> path) {
  const json* here = &object;
  for (const char* key : path) {
    if (!here->is_object() || !here->contains(key)) return std::nullopt;
    here = &(*here)[key];
  }
  if (!here->is_number_integer() || here->get<int64_t>() <= 0) return std::nullopt;
  return here->get<int64_t>();
}

std::optional<std::string> reason_in(const Unknowns& unknown, const std::string& key) {
  const auto found = unknown.find(key);
  return found == unknown.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::map<int64_t, double> values_by_seed(const ModeRecord& mode, const MetricTraits& metric) {
  std::map<int64_t, double> means;
  for (const auto& [seed, values] : grouped_by_seed(mode, metric)) {
    means[seed] = estimate(values)->mean;
  }
  return means;
}

std::optional<Estimate> metric_estimate(const ModeRecord& mode, const MetricTraits& metric) {
  if (metric.unit == MetricUnit::fraction) {
    std::vector<double> means;
    for (const auto& [seed, value] : values_by_seed(mode, metric)) means.push_back(value);
    return estimate(means);
  }
  std::vector<std::vector<double>> groups;
  for (const auto& [seed, values] : grouped_by_seed(mode, metric)) groups.push_back(values);
  return estimate_within(groups);
}

std::string metric_unknown_reason(const ModeRecord& mode, const MetricTraits& metric) {
  const std::vector<const RunRecord*> runs = measured_runs(mode);
  if (runs.empty()) return "no run is ok";
  const std::string path(metric.json_path);
  const std::string key = path.substr(path.rfind('.') + 1);
  for (const RunRecord* run : runs) {
    for (const Unknowns* unknown : {&run->unknown, &run->time.unknown, &run->memory.unknown}) {
      if (const auto reason = reason_in(*unknown, key)) return *reason;
      // time.step_ms is one object of three figures with one reason
      if (path.find("step_ms") != std::string::npos) {
        if (const auto reason = reason_in(*unknown, "step_ms")) return *reason;
      }
    }
  }
  return "not measured";
}

const ModeRecord* find_mode_record(const ResultDocument& document, const std::string& mode) {
  const auto found = std::find_if(document.modes.begin(), document.modes.end(),
                                  [&](const ModeRecord& record) { return record.mode == mode; });
  return found == document.modes.end() ? nullptr : &*found;
}

const ModeRecord* reference_mode(const ResultDocument& document) {
  const std::string asked = document.reference.empty() ? "32-true" : document.reference;
  if (const ModeRecord* mode = find_mode_record(document, asked)) {
    if (!measured_runs(*mode).empty()) return mode;
  }
  for (const ModeRecord& mode : document.modes) {
    if (!measured_runs(mode).empty()) return &mode;
  }
  return nullptr;
}

int64_t devices_of(const ResultDocument& document) {
  return positive_at(document.protocol, {"devices"}).value_or(1);
}

DataSizes data_sizes(const ResultDocument& document) {
  const std::string dataset = text_at(document.protocol, {"dataset"}).value_or("");
  const bool is_mnist = dataset == "fashion-mnist" || dataset == "mnist";
  const DatasetTraits* traits = find_dataset(dataset);
  // `told` is what this version writes; files without it are of a built-in or a synthetic data set.
  const auto size = [&](const char* told, const char* drawn, int64_t built_in) {
    auto value = positive_at(document.protocol, {told});
    if (!value) value = positive_at(document.protocol, {"synthetic", drawn});
    return !value && is_mnist ? std::optional(built_in) : value;
  };
  const auto limited = [&](std::optional<int64_t> samples, const char* limit) {
    const auto most = positive_at(document.protocol, {limit});
    return most && samples ? std::min(*most, *samples) : samples;
  };
  DataSizes sizes;
  sizes.train = limited(size("train_samples", "train", kMnistTrainSamples), "limit_train");
  sizes.test = limited(size("test_samples", "test", kMnistTestSamples), "limit_test");
  // A text is judged by its bytes, of which a sequence has as many as its context.
  if (const auto context = positive_at(document.protocol, {"context"}); context && sizes.test) {
    sizes.test = *sizes.test * *context;
  }
  sizes.classes = size("classes", "classes", traits != nullptr ? traits->classes : 0);
  return sizes;
}

std::vector<double> later_steps_ms(const RunRecord& run) {
  std::vector<double> times;
  for (size_t i = 1; i < run.time.step_ms.samples.size(); ++i) {
    const auto& sample = run.time.step_ms.samples[i];
    if (sample && *sample > 0) times.push_back(*sample);
  }
  return times;
}

bool has_mark(const ModeRecord& mode, const std::string& id) {
  return std::any_of(mode.marks.begin(), mode.marks.end(),
                     [&](const Mark& mark) { return mark.id == id; });
}

std::string mark_ids(const ModeRecord& mode) {
  std::string ids;
  for (const Mark& mark : mode.marks) ids += (ids.empty() ? "" : " ") + mark.id;
  return ids;
}

std::optional<std::string> text_at(const json& object, std::initializer_list<const char*> path) {
  const json* here = &object;
  for (const char* key : path) {
    if (!here->is_object()) return std::nullopt;
    const auto member = here->find(key);
    if (member == here->end()) return std::nullopt;
    here = &*member;
  }
  return here->is_string() ? std::optional(here->get<std::string>()) : std::nullopt;
}

}  // namespace precbench
