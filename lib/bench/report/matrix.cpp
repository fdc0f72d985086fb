#include "bench/report/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/judge/comparability.h"
#include "bench/judge/judge.h"
#include "bench/judge/marks.h"
#include "bench/judge/standing.h"
#include "bench/report/block.h"
#include "bench/report/heading.h"
#include "bench/result/protocol_hash.h"
#include "bench/text/escape.h"
#include "bench/text/figures.h"
#include "bench/text/words.h"

namespace precbench {
namespace {

std::string workload_of(const ResultDocument& document) {
  std::string workload = workload_line(document);
  if (workload.empty()) {
    workload = shortened(
        terminal_text(text_at(document.invocation, {"context", "source"}).value_or("")), 120);
  }
  // Counted here: results of one protocol carry other hashes if older versions counted otherwise.
  return (workload.empty() ? "workload not known" : workload) + " (protocol " +
         protocol_hash(document.protocol).substr(0, 8) + ")";
}

// Known modes in the table's order, others (of a later version) behind them.
std::vector<std::string> ordered_modes(const std::vector<MatrixEntry>& entries) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::string& name : mode_names()) {
    for (const MatrixEntry& entry : entries) {
      if (find_mode_record(entry.document, name) != nullptr) add(name);
    }
  }
  for (const MatrixEntry& entry : entries) {
    for (const ModeRecord& mode : entry.document.modes) add(mode.mode);
  }
  return names;
}

// Labels are the names of files at first.
void label_by_device(MatrixGroup& group) {
  std::map<std::string, int> count;
  for (const MatrixEntry& entry : group.entries) ++count[device_name(entry.document)];
  for (MatrixEntry& entry : group.entries) {
    const std::string device = device_name(entry.document);
    entry.label = count[device] > 1 ? device + " (" + entry.label + ")" : device;
  }
}

bool is_time(const MetricTraits& metric) {
  return metric.unit != MetricUnit::fraction && metric.unit != MetricUnit::bytes;
}

bool is_candidate(const ModeRecord* mode, const MetricTraits& metric) {
  if (mode == nullptr || mode->status != Status::ok || !metric_estimate(*mode, metric))
    return false;
  if (is_time(metric) && mark_against_time(*mode) != nullptr) return false;
  return metric.unit != MetricUnit::fraction || !has_mark(*mode, "at-chance");
}

const ModeRecord* best_of(const MatrixEntry& entry, const MetricTraits& metric) {
  const ModeRecord* best = nullptr;
  for (const ModeRecord& mode : entry.document.modes) {
    if (!is_candidate(&mode, metric)) continue;
    if (best == nullptr) {
      best = &mode;
      continue;
    }
    const double value = metric_estimate(mode, metric)->mean;
    const double record = metric_estimate(*best, metric)->mean;
    if (metric.better == BetterWhen::lower ? value < record : value > record) best = &mode;
  }
  return best;
}

std::string cell_of(const ModeRecord* mode, const MetricTraits& metric) {
  if (mode == nullptr) return "";
  if (measured_runs(*mode).empty()) return std::string(words_for(mode->status));
  std::string cell = figure_text(metric_estimate(*mode, metric), metric);
  if (mode->status != Status::ok) cell += " " + std::string(words_for(mode->status));
  if (has_mark(*mode, "emulated")) cell += " e";
  if (has_mark(*mode, "at-chance")) cell += " c";
  if (is_time(metric) && mark_against_time(*mode) != nullptr) cell += " !";
  return cell;
}

std::string software(const json& object, const char* key) {
  return shortened(terminal_text(text_at(object, {key}).value_or("-")), 24);
}

}  // namespace

std::vector<MatrixGroup> matrix_of(std::vector<ResultDocument> documents,
                                   const std::vector<std::string>& names) {
  std::vector<MatrixGroup> groups;
  for (size_t i = 0; i < documents.size(); ++i) {
    assign_marks(documents[i]);
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const MatrixGroup& other) {
      return protocol_differences(other.entries.front().document, documents[i]).empty();
    });
    MatrixGroup& mine = group != groups.end() ? *group : groups.emplace_back();
    mine.entries.push_back({terminal_text(names[i]), std::move(documents[i])});
  }
  for (MatrixGroup& group : groups) {
    group.workload = workload_of(group.entries.front().document);
    group.modes = ordered_modes(group.entries);
    label_by_device(group);
  }
  return groups;
}

MatrixTable matrix_table(const MatrixGroup& group, const MetricTraits& metric) {
  MatrixTable table;
  table.header = {"machine"};
  for (const std::string& mode : group.modes) table.header.push_back(terminal_text(mode));
  for (const char* title : {"LibTorch", "CUDA", "driver"}) table.header.emplace_back(title);
  for (const MatrixEntry& entry : group.entries) {
    const ModeRecord* best = best_of(entry, metric);
    std::vector<std::string> row = {entry.label};
    std::vector<size_t> cells;
    std::vector<ModePair> pairs;
    for (const std::string& name : group.modes) {
      const ModeRecord* mode = find_mode_record(entry.document, name);
      row.push_back(cell_of(mode, metric));
      if (best == nullptr || !is_candidate(mode, metric)) continue;
      cells.push_back(row.size() - 1);
      pairs.push_back({best, mode, default_limit(metric)});
    }
    const auto judged = judge(pairs, metric, {false, false, data_sizes(entry.document)});
    const auto is_worse = [](const MetricComparison& one) { return one.verdict == Verdict::worse; };
    if (std::any_of(judged.begin(), judged.end(), is_worse)) {
      for (size_t i = 0; i < cells.size(); ++i) row[cells[i]] += is_worse(judged[i]) ? "" : " *";
    }
    row.push_back(software(entry.document.tool, "libtorch"));
    row.push_back(software(entry.document.environment, "cuda"));
    row.push_back(software(entry.document.environment, "driver"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace precbench
