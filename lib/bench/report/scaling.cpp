#include "bench/report/scaling.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/judge/comparability.h"
#include "bench/report/heading.h"
#include "bench/result/measured.h"
#include "bench/text/escape.h"
#include "bench/text/layout.h"
#include "common/errors.h"
#include "common/json_text.h"
#include "common/suggest.h"

namespace precbench {
namespace {

int64_t protocol_number(const ResultDocument& document, const char* key, int64_t otherwise) {
  const auto found = document.protocol.find(key);
  const bool is_number = found != document.protocol.end() && found->is_number_integer();
  return is_number ? found->get<int64_t>() : otherwise;
}

double global_batch_of(const ResultDocument& document) {
  return static_cast<double>(devices_of(document)) *
         static_cast<double>(protocol_number(document, "batch_size", 0));
}

void require_same_workload(const ResultDocument& first, const ResultDocument& other) {
  std::vector<std::string> fields = protocol_differences(first, other);
  std::erase_if(fields, [](const std::string& field) {
    return field.starts_with("devices") || field.starts_with("batch_size");
  });
  if (!fields.empty()) {
    throw FileError("the results differ in more than devices and batch size: " +
                    joined(fields, ", ") + "\n       make them with --devices 1,2,4");
  }
}

std::optional<double> mean_of(const ModeRecord& mode, const char* metric) {
  const auto estimate = metric_estimate(mode, *find_metric(metric));
  return estimate ? std::optional(estimate->mean) : std::nullopt;
}

ScalingRow row_of(const ModeRecord& mode, const ResultDocument& document, const ScalingRow* base) {
  ScalingRow row;
  row.mode = mode.mode;
  row.devices = devices_of(document);
  row.batch_size = protocol_number(document, "batch_size", 0);
  row.status = mode.status == Status::ok
                   ? "ok"
                   : std::string(name_of(mode.status)) + ": " + mode.reason.value_or("");
  row.samples_per_s = mean_of(mode, "throughput");
  row.step_ms = mean_of(mode, "step_time");
  row.test_accuracy = mean_of(mode, "test_accuracy");
  const auto runs = measured_runs(mode);
  if (!runs.empty()) row.communication = runs.front()->communication;
  if (base == nullptr) return row;
  if (row.samples_per_s && *base->samples_per_s > 0) {
    row.speedup = *row.samples_per_s / *base->samples_per_s;
    row.efficiency =
        *row.speedup * static_cast<double>(base->devices) / static_cast<double>(row.devices);
  }
  if (row.test_accuracy && base->test_accuracy) {
    row.accuracy_change = *row.test_accuracy - *base->test_accuracy;
  }
  return row;
}

const ScalingRow* base_of(const std::vector<ScalingRow>& rows, const std::string& mode) {
  const auto base = std::find_if(rows.begin(), rows.end(), [&](const ScalingRow& row) {
    return row.mode == mode && row.samples_per_s;
  });
  return base == rows.end() ? nullptr : &*base;
}

std::vector<std::string> notes_of(const std::vector<ResultDocument>& documents) {
  std::vector<std::string> notes;
  const ResultDocument& first = documents.front();
  const auto has_other_batch = [&](const ResultDocument& each) {
    return global_batch_of(each) != global_batch_of(first);
  };
  if (std::any_of(documents.begin(), documents.end(), has_other_batch)) {
    notes.emplace_back("global batches differ: these are other trainings, and their accuracies");
  }
  for (const ResultDocument& each : documents) {
    std::vector<std::string> differences = machine_differences(first, each);
    // Each device has its own.
    std::erase_if(differences, [](const auto& text) { return text.starts_with("threads"); });
    if (differences.empty()) continue;
    notes.push_back(fmt::format("{} devices ran on another machine ({}): speed says little",
                                devices_of(each), terminal_text(joined(differences, ", "))));
  }
  const auto is_busy = [](const ResultDocument& each) {
    return std::any_of(each.modes.begin(), each.modes.end(),
                       [](const ModeRecord& mode) { return has_mark(mode, "busy"); });
  };
  if (std::any_of(documents.begin(), documents.end(), is_busy)) {
    notes.emplace_back("others were busy on this machine meanwhile: speed says little");
  }
  return notes;
}

// A figure, or nothing of it.
template <typename Format>
std::string cell_of(const std::optional<double>& value, Format format) {
  return value ? format(*value) : "-";
}

std::vector<std::string> cells_of(const ScalingRow& row) {
  constexpr double kMegabyte = 1e6, kPercent = 100;
  const auto percent = [](double share) { return fmt::format("{:.0f} %", kPercent * share); };
  std::optional<double> megabytes, share, hidden;
  if (row.communication) {
    const CommunicationRecord& sent = *row.communication;
    megabytes = static_cast<double>(sent.gradient_bytes + sent.buffer_bytes) / kMegabyte;
    if (sent.ms && row.step_ms && *row.step_ms > 0) share = *sent.ms / *row.step_ms;
    if (sent.ms && sent.hidden_ms && *sent.ms > 0) hidden = *sent.hidden_ms / *sent.ms;
  }
  return {
      terminal_text(row.mode),
      std::to_string(row.devices),
      std::to_string(row.batch_size),
      row.status == "ok"
          ? cell_of(row.samples_per_s,
                    [](double rate) { return fmt::format("{:.{}f}", rate, rate < 100 ? 1 : 0); })
          : shortened(terminal_text(row.status), 60),
      cell_of(row.speedup, [](double factor) { return fmt::format("{:.2f}x", factor); }),
      cell_of(row.efficiency, percent),
      cell_of(row.test_accuracy,
              [](double share_right) { return fmt::format("{:.2f} %", kPercent * share_right); }),
      cell_of(row.accuracy_change,
              [](double change) { return fmt::format("{:+.2f} pp", kPercent * change); }),
      cell_of(megabytes, [](double sent) { return fmt::format("{:.3g} MB", sent); }),
      cell_of(share, percent),
      cell_of(hidden, percent)};
}

std::vector<std::string> header() {
  return {"mode",     "devices", "batch",    "samples/s",     "speed-up", "efficiency",
          "test acc", "change",  "per step", "communicating", "hidden"};
}

json as_json(const Scaling& scaling) {
  json rows = json::array();
  for (const ScalingRow& row : scaling.rows) {
    json& entry = rows.emplace_back(json{{"mode", row.mode},
                                         {"devices", row.devices},
                                         {"batch_size", row.batch_size},
                                         {"status", row.status},
                                         {"samples_per_s", nullable(row.samples_per_s)},
                                         {"speedup", nullable(row.speedup)},
                                         {"efficiency", nullable(row.efficiency)},
                                         {"test_accuracy", nullable(row.test_accuracy)},
                                         {"accuracy_change", nullable(row.accuracy_change)},
                                         {"step_ms", nullable(row.step_ms)},
                                         {"communication", nullptr}});
    if (!row.communication) continue;
    entry["communication"] = {{"gradient_bytes", row.communication->gradient_bytes},
                              {"buffer_bytes", row.communication->buffer_bytes},
                              {"ms", nullable(row.communication->ms)},
                              {"hidden_ms", nullable(row.communication->hidden_ms)}};
  }
  return {{"workload", scaling.workload}, {"rows", rows}, {"notes", scaling.notes}};
}

}  // namespace

Scaling scaling_of(std::vector<ResultDocument> documents) {
  std::stable_sort(documents.begin(), documents.end(),
                   [](const auto& a, const auto& b) { return devices_of(a) < devices_of(b); });
  for (size_t i = 1; i < documents.size(); ++i) {
    require_same_workload(documents.front(), documents[i]);
    if (devices_of(documents[i]) == devices_of(documents[i - 1])) {
      throw FileError(fmt::format("two results are of {} device{}: give one of each number",
                                  devices_of(documents[i]),
                                  devices_of(documents[i]) == 1 ? "" : "s"));
    }
  }
  Scaling scaling;
  if (documents.empty()) return scaling;
  scaling.workload = workload_line(documents.front());
  scaling.notes = notes_of(documents);
  for (const ModeRecord& named : documents.front().modes) {
    for (const ResultDocument& document : documents) {
      const ModeRecord* mode = find_mode_record(document, named.mode);
      if (mode == nullptr) continue;
      scaling.rows.push_back(row_of(*mode, document, base_of(scaling.rows, named.mode)));
    }
  }
  return scaling;
}

std::string render_scaling(const Scaling& scaling, const std::string& format,
                           const RenderOptions& options) {
  if (format == "json") return json_text(as_json(scaling)) + "\n";
  if (format == "none") return "";
  std::vector<std::vector<std::string>> rows;
  for (const ScalingRow& row : scaling.rows) rows.push_back(cells_of(row));
  std::string text = format == "markdown" ? "## " + markdown_text(scaling.workload) + "\n\n"
                                          : scaling.workload + "\n\n";
  if (format == "markdown") {
    text += markdown_table(header(), rows) + "\n";
    for (const std::string& note : scaling.notes) text += "- " + markdown_text(note) + "\n";
    return text;
  }
  for (const std::string& line : laid_out(header(), rows, options.columns)) text += line + "\n";
  for (const std::string& note : scaling.notes) text += wrapped(note, options.columns, 2) + "\n";
  return options.ascii ? ascii_text(text) : text;
}

}  // namespace precbench
