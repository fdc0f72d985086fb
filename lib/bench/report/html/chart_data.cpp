#include "bench/report/html/chart_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/judge/target.h"
#include "bench/result/measured.h"
#include "bench/text/escape.h"
#include "bench/text/units.h"

namespace precbench::html {
namespace {

// More points than pixels of a chart show nothing more.
constexpr size_t kMostPoints = 400;

// Bins of the step-time histogram between the fastest and the slowest step, on a logarithmic scale.
constexpr int kBins = 40;

// The first ok run stands for its mode: curves of many runs over each other show none of them.
const RunRecord* shown_run(const ModeRecord& mode) {
  const auto runs = measured_runs(mode);
  return runs.empty() ? nullptr : runs.front();
}

json series_of(const ResultDocument& document, json (*points)(const RunRecord& run)) {
  json series = json::array();
  int index = -1;
  for (const ModeRecord& mode : document.modes) {
    ++index;
    const RunRecord* run = shown_run(mode);
    if (run == nullptr) continue;
    json values = points(*run);
    if (values.empty()) continue;
    const std::string name = terminal_text(mode.mode);
    // Of two curves that are the same, one would hide the other.
    const auto same = std::find_if(series.begin(), series.end(), [&](const json& other) {
      return values.size() > 1 && other["points"] == values;
    });
    if (same != series.end()) {
      (*same)["mode"] = (*same)["mode"].get<std::string>() + " = " + name;
      continue;
    }
    series.push_back({{"mode", name}, {"index", index}, {"points", std::move(values)}});
  }
  return series;
}

// Means over equal stretches; a stretch without a finite value is a gap.
json loss_points(const RunRecord& run) {
  json points = json::array();
  const size_t count = run.loss_trace.size();
  const size_t stretch = (count + kMostPoints - 1) / kMostPoints;
  for (size_t start = 0; start < count; start += std::max<size_t>(stretch, 1)) {
    double sum = 0;
    int finite = 0;
    for (size_t i = start; i < std::min(start + stretch, count); ++i) {
      if (!run.loss_trace[i]) continue;
      sum += *run.loss_trace[i];
      ++finite;
    }
    const auto step = static_cast<int64_t>(start) * run.loss_trace_stride;
    points.push_back({step, finite > 0 ? json(sum / finite) : json(nullptr)});
  }
  return points;
}

json accuracy_points(const RunRecord& run) {
  json points = json::array();
  for (const EpochRecord& epoch : run.epochs) {
    if (epoch.test_accuracy) points.push_back({epoch.epoch, 100 * *epoch.test_accuracy});
  }
  return points;
}

// One evaluation of a run, after so many seconds of training and evaluation: its accuracy in
// percent, or its perplexity.
struct Moment {
  double seconds, value;
};

std::optional<double> progress_value(const EpochRecord& epoch, bool is_perplexity) {
  if (!is_perplexity) {
    return epoch.test_accuracy ? std::optional(100 * *epoch.test_accuracy) : std::nullopt;
  }
  if (!epoch.test_loss) return std::nullopt;
  const double perplexity = std::exp(*epoch.test_loss);
  return std::isfinite(perplexity) ? std::optional(perplexity) : std::nullopt;
}

// Nothing where an epoch does not tell its time.
std::vector<Moment> moments_of(const RunRecord& run, bool is_perplexity) {
  std::vector<Moment> moments;
  double seconds = 0;
  for (const EpochRecord& epoch : run.epochs) {
    if (!epoch.train_s) return {};
    seconds += *epoch.train_s + epoch.eval_s.value_or(0);
    if (const auto value = progress_value(epoch, is_perplexity))
      moments.push_back({seconds, *value});
  }
  return moments;
}

// Means over a mode's runs after each evaluation that all of them came to, and the lowest and the
// highest of them.
json progress_of(const ModeRecord& mode, bool is_perplexity) {
  std::vector<std::vector<Moment>> runs;
  for (const RunRecord* run : measured_runs(mode)) runs.push_back(moments_of(*run, is_perplexity));
  size_t common = runs.empty() ? 0 : runs.front().size();
  for (const auto& run : runs) common = std::min(common, run.size());
  json points = json::array(), low = json::array(), high = json::array();
  for (size_t i = 0; i < common; ++i) {
    double seconds = 0, mean = 0, least = runs.front()[i].value, most = least;
    for (const auto& run : runs) {
      seconds += run[i].seconds / static_cast<double>(runs.size());
      mean += run[i].value / static_cast<double>(runs.size());
      least = std::min(least, run[i].value);
      most = std::max(most, run[i].value);
    }
    points.push_back({seconds, mean});
    low.push_back({seconds, least});
    high.push_back({seconds, most});
  }
  json progress = {{"points", std::move(points)}};
  if (runs.size() > 1) progress.update({{"low", std::move(low)}, {"high", std::move(high)}});
  return progress;
}

json progress_data(const ResultDocument& document) {
  const auto target = target_in(document);
  const bool is_perplexity = target && target->is_perplexity;
  json series = json::array();
  int index = -1;
  for (const ModeRecord& mode : document.modes) {
    ++index;
    json progress = progress_of(mode, is_perplexity);
    if (progress["points"].empty()) continue;
    progress.update({{"mode", terminal_text(mode.mode)}, {"index", index}});
    series.push_back(std::move(progress));
  }
  const json aim = target ? json(target->value * (is_perplexity ? 1 : 100)) : json();
  return {{"series", std::move(series)},
          {"target", aim},
          {"target_words", target ? target->short_words() : ""},
          {"unit", is_perplexity ? "test perplexity" : "test accuracy, %"}};
}

json step_points(const RunRecord& run) {
  json points = json::array();
  const std::vector<double> times = later_steps_ms(run);
  if (times.size() < 2) return points;
  const auto [min, max] = std::minmax_element(times.begin(), times.end());
  const double low = std::log(*min);
  const double width = std::max(std::log(*max) - low, 1e-6) / kBins;
  std::vector<int> counts(kBins, 0);
  for (const double time : times) {
    const int bin = static_cast<int>((std::log(time) - low) / width);
    ++counts[static_cast<size_t>(std::clamp(bin, 0, kBins - 1))];
  }
  for (int bin = 0; bin < kBins; ++bin) {
    points.push_back(
        {std::exp(low + (bin + 0.5) * width),
         100.0 * counts[static_cast<size_t>(bin)] / static_cast<double>(times.size())});
  }
  return points;
}

// "weights_bytes" of any breakdown in the document, in the order of their names.
std::set<std::string> part_keys(const ResultDocument& document) {
  std::set<std::string> keys;
  for (const ModeRecord& mode : document.modes) {
    const RunRecord* run = shown_run(mode);
    if (run == nullptr) continue;
    for (const auto& [key, value] : run->memory.breakdown.items()) {
      if (value.is_number() && key.ends_with("_bytes")) keys.insert(key);
    }
  }
  return keys;
}

// Means over the runs; training and evaluation apart where every mode knows them.
json time_data(const ResultDocument& document) {
  json modes = json::array(), train = json::array(), eval = json::array(), total = json::array();
  bool is_split = true;
  for (const ModeRecord& mode : document.modes) {
    const auto whole = metric_estimate(mode, *find_metric("time"));
    if (!whole) continue;
    double eval_s = 0;
    const auto runs = measured_runs(mode);
    for (const RunRecord* run : runs) {
      is_split = is_split && run->time.eval_s.has_value();
      eval_s += run->time.eval_s.value_or(0) / static_cast<double>(runs.size());
    }
    modes.push_back(terminal_text(mode.mode));
    total.push_back(whole->mean);
    eval.push_back(std::min(eval_s, whole->mean));
    train.push_back(std::max(whole->mean - eval_s, 0.0));
  }
  json parts = json::array();
  if (is_split) {
    parts.push_back({{"name", "training"}, {"values", train}});
    parts.push_back({{"name", "evaluation"}, {"values", eval}});
  } else {
    parts.push_back({{"name", "time"}, {"values", total}});
  }
  return {{"modes", modes}, {"parts", parts}};
}

std::string times_in_words(const ResultDocument& document) {
  std::string text;
  for (const ModeRecord& mode : document.modes) {
    const auto value = metric_estimate(mode, *find_metric("time"));
    if (!value) continue;
    text +=
        (text.empty() ? "" : "; ") + terminal_text(mode.mode) + " " + duration_text(value->mean);
  }
  return text;
}

// A line needs two points; one is told by the table already.
bool has_line(const json& series) {
  return std::any_of(series.begin(), series.end(),
                     [](const json& one) { return one["points"].size() > 1; });
}

json memory_data(const ResultDocument& document) {
  json modes = json::array();
  const std::set<std::string> keys = part_keys(document);
  std::vector<json> parts(keys.size() + 1, json::array());
  for (const ModeRecord& mode : document.modes) {
    const RunRecord* run = shown_run(mode);
    if (run == nullptr || !run->memory.peak_allocated_bytes) continue;
    modes.push_back(terminal_text(mode.mode));
    double rest = static_cast<double>(*run->memory.peak_allocated_bytes);
    size_t part = 0;
    for (const std::string& key : keys) {
      const auto value = run->memory.breakdown.find(key);
      const bool is_known = value != run->memory.breakdown.end() && value->is_number();
      const double bytes = is_known ? value->get<double>() : 0.0;
      rest -= bytes;
      parts[part++].push_back(bytes / kMebibyte);
    }
    parts[part].push_back(std::max(rest, 0.0) / kMebibyte);
  }
  json named = json::array();
  size_t part = 0;
  for (const std::string& key : keys) {
    named.push_back(
        {{"name", terminal_text(key.substr(0, key.size() - 6))}, {"values", parts[part++]}});
  }
  named.push_back({{"name", keys.empty() ? "peak" : "rest of the peak"}, {"values", parts[part]}});
  return {{"modes", modes}, {"parts", named}};
}

// "16-mixed from 2.31 to 0.42; 32-true from ..."
std::string ends_in_words(const json& series, const char* unit) {
  std::string text;
  for (const json& one : series) {
    const json& first = one["points"].front()[1];
    const json& last = one["points"].back()[1];
    const auto number = [&](const json& value) {
      return value.is_null() ? std::string("not finite")
                             : fmt::format("{:.4g}{}", value.get<double>(), unit);
    };
    text += (text.empty() ? "" : "; ") + one["mode"].get<std::string>() + " from " + number(first) +
            " to " + number(last);
  }
  return text;
}

std::string medians_in_words(const ResultDocument& document) {
  std::string text;
  for (const ModeRecord& mode : document.modes) {
    const RunRecord* run = shown_run(mode);
    if (run == nullptr || !run->time.step_ms.median) continue;
    text += (text.empty() ? "median step: " : "; ") + terminal_text(mode.mode) +
            fmt::format(" {:.2f} ms", *run->time.step_ms.median);
  }
  return text;
}

std::string memory_in_words(const ResultDocument& document) {
  std::string text;
  for (const ModeRecord& mode : document.modes) {
    const auto value = metric_estimate(mode, *find_metric("memory"));
    if (!value) continue;
    text += (text.empty() ? "peak: " : "; ") + terminal_text(mode.mode) + " " +
            mebibytes_text(value->mean) + " MiB";
  }
  return text;
}

}  // namespace

json chart_data(const ResultDocument& document) {
  return {{"time", time_data(document)},
          {"loss", {{"series", series_of(document, loss_points)}}},
          {"accuracy", {{"series", series_of(document, accuracy_points)}}},
          {"progress", progress_data(document)},
          {"steps", {{"series", series_of(document, step_points)}}},
          {"memory", memory_data(document)}};
}

std::vector<Chart> charts_of(const ResultDocument& document) {
  const json data = chart_data(document);
  std::vector<Chart> charts;
  if (!data["time"]["modes"].empty()) {
    charts.push_back({"time", "How long a run takes", times_in_words(document)});
  }
  if (const json& loss = data["loss"]["series"]; has_line(loss)) {
    charts.push_back({"loss", "Training loss of every mode", ends_in_words(loss, "")});
  }
  if (const json& accuracy = data["accuracy"]["series"]; has_line(accuracy)) {
    charts.push_back({"accuracy", "Test accuracy per epoch", ends_in_words(accuracy, " %")});
  }
  if (const json& progress = data["progress"]; has_line(progress["series"])) {
    const auto target = target_in(document);
    const bool is_perplexity = target && target->is_perplexity;
    charts.push_back({"progress",
                      is_perplexity ? "Test perplexity over time" : "Test accuracy over time",
                      ends_in_words(progress["series"], is_perplexity ? "" : " %") +
                          (target ? "; the target is " + target->short_words() : "")});
  }
  if (!data["steps"]["series"].empty()) {
    charts.push_back({"steps", "How long a step takes", medians_in_words(document)});
  }
  if (!data["memory"]["modes"].empty()) {
    charts.push_back({"memory", "Peak memory", memory_in_words(document)});
  }
  return charts;
}

}  // namespace precbench::html
