#include "bench/report/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/judge/ceiling.h"
#include "bench/judge/judge.h"
#include "bench/judge/marks.h"
#include "bench/judge/repeatability.h"
#include "bench/judge/standing.h"
#include "bench/judge/target.h"
#include "bench/report/block.h"
#include "bench/report/heading.h"
#include "bench/result/numeric_notes.h"
#include "bench/text/escape.h"
#include "bench/text/units.h"
#include "bench/text/words.h"
#include "common/engines.h"

namespace precbench {
namespace {

constexpr const char* kNothing = "-";

std::optional<Estimate> value_of(const ModeRecord& mode, std::string_view metric) {
  return metric_estimate(mode, *find_metric(metric));
}

// Collects what the cells need explained, each thing once.
struct Signs {
  bool one_seed = false, seed_noise = false, one_run = false, time_noise = false;
  bool marked_time = false;
  bool running_accuracy = false;
  std::optional<int64_t> test_samples;
  double one_seed_bound = kOneSeedAccuracy;  // the largest of the cells
};

// A mode's row on its way into cells.
struct TableRow {
  const ModeRecord& mode;
  const ModeRecord* reference;
  const Standing* standing;  // beside the reference; null: there is none, or this is it
  Signs& signs;
};

// In the unit that people read.
std::string figure_cell(const ModeRecord& mode, const MetricTraits& metric) {
  const auto value = metric_estimate(mode, metric);
  if (!value) return kNothing;
  switch (metric.unit) {
    case MetricUnit::fraction:
      return percent_text(*value);
    case MetricUnit::seconds:
      return duration_text(*value);
    case MetricUnit::bytes:
      return mebibytes_text(value->mean);
    case MetricUnit::milliseconds:
    case MetricUnit::per_second:
      break;
  }
  return fmt::format("{:.1f}", value->mean);
}

bool is_decided(const MetricComparison& judged) {
  return judged.verdict == Verdict::better || judged.verdict == Verdict::worse;
}

std::string accuracy_change_cell(const TableRow& row) {
  const MetricComparison& judged = row.standing->accuracy;
  Signs& signs = row.signs;
  if (!judged.change) return kNothing;
  const std::string points = points_text(*judged.change);
  if (is_decided(judged)) return points;
  signs.one_seed_bound =
      std::max(signs.one_seed_bound,
               one_seed_bound(judged.base->mean, judged.current->mean, signs.test_samples));
  (judged.is_single ? signs.one_seed : signs.seed_noise) = true;
  return points + (judged.is_single ? " ?" : " ≈");
}

std::string speed_cell(const TableRow& row) {
  const MetricComparison& judged = row.standing->speed;
  Signs& signs = row.signs;
  if (!judged.change) return kNothing;
  const std::string text = speed_text(Ratio{1 + *judged.change, judged.error, std::nullopt});
  if (is_decided(judged)) return text;
  (judged.is_refused  ? signs.marked_time
   : judged.is_single ? signs.one_run
                      : signs.time_noise) = true;
  return text + (judged.is_refused ? " !" : judged.is_single ? " ?" : " ≈");
}

std::string memory_change_cell(const TableRow& row) {
  const auto& change = row.standing->memory.change;
  return change ? change_text(1 + *change) : kNothing;
}

std::string status_note(const ModeRecord& mode) {
  std::string note(words_for(mode.status));
  if (mode.reason) note += ": " + shortened(terminal_text(*mode.reason), 80);
  const auto ok = measured_runs(mode).size();
  if (ok == 0) return note;
  return fmt::format("{} of {} runs ok; {}", ok, mode.runs.size(), note);
}

// "scale 65536, 2 skipped": the last run's scale, the skips of all.
std::string scaler_note(const ModeRecord& mode) {
  int64_t skipped = 0;
  std::optional<double> scale;
  for (const RunRecord* run : measured_runs(mode)) {
    if (!run->scaler) continue;
    scale = run->scaler->final_scale;
    skipped += run->scaler->skipped_steps;
  }
  return scale ? fmt::format("scale {:g}, {} skipped", *scale, skipped) : "";
}

std::string notes_cell(const TableRow& row) {
  const ModeRecord& mode = row.mode;
  std::vector<std::string> notes;
  if (mode.status != Status::ok) notes.push_back(status_note(mode));
  if (mode.effective_mode != mode_of_row(mode.mode) && !measured_runs(mode).empty()) {
    notes.push_back("ran as " + terminal_text(mode.effective_mode));
  }
  if (mode.own_batch) {
    notes.push_back(
        fmt::format("batch {}, lr {:g}", mode.own_batch->batch_size, mode.own_batch->lr));
  }
  if (const std::string target = target_note(mode); !target.empty()) notes.push_back(target);
  if (const std::string scaler = scaler_note(mode); !scaler.empty()) notes.push_back(scaler);
  if (const std::string numbers = numeric_note(mode, row.reference); !numbers.empty()) {
    notes.push_back(numbers);
  }
  if (mode.support && mode.support->verdict == SupportLevel::no_fast_path)
    notes.emplace_back("no fast path");
  for (const Mark& mark : mode.marks) {
    if (traits_of(mark).is_quiet) continue;
    if (mark.id == "emulated" && mode.status != Status::ok) continue;
    notes.push_back(terminal_text(mark.id));
  }
  std::string cell;
  for (const std::string& note : notes) cell += (cell.empty() ? "" : ", ") + note;
  return cell;
}

// A figure of kMetrics, or a text of its own; a change is one against the reference.
struct TableColumn {
  const char* header;
  std::string_view metric = {};
  std::string (*text)(const TableRow& row) = nullptr;
  std::string (*change)(const TableRow& row) = nullptr;
};

constexpr const char* kVersus = "";  // "vs 32-true"

constexpr TableColumn kTableColumns[] = {
    {.header = "mode", .text = [](const TableRow& row) { return terminal_text(row.mode.mode); }},
    {.header = "test acc", .metric = "test_accuracy"},
    {.header = kVersus, .change = accuracy_change_cell},
    {.header = "train acc", .metric = "train_accuracy"},
    {.header = "time", .metric = "time"},
    {.header = "speed", .change = speed_cell},
    {.header = "peak MiB", .metric = "memory"},
    {.header = kVersus, .change = memory_change_cell},
    {.header = "notes", .text = notes_cell},
};

std::string cell_of(const TableColumn& column, const TableRow& row) {
  if (column.text != nullptr) return column.text(row);
  if (column.change == nullptr) return figure_cell(row.mode, *find_metric(column.metric));
  // A mode without figures has no difference to the reference either, even if it is the reference.
  if (!value_of(row.mode, "test_accuracy") && !value_of(row.mode, "time")) return kNothing;
  return row.standing == nullptr ? "ref" : column.change(row);
}

bool is_below_test_accuracy(const ModeRecord& mode) {
  const auto train = value_of(mode, "train_accuracy");
  const auto test = value_of(mode, "test_accuracy");
  return train && test && train->mean < test->mean;
}

// "--seeds 42,43,44": the seed that was used and its successors.
std::string more_seeds(const ResultDocument& document) {
  for (const ModeRecord& mode : document.modes) {
    for (const RunRecord* run : measured_runs(mode)) {
      return fmt::format("--seeds {},{},{}", run->seed, run->seed + 1, run->seed + 2);
    }
  }
  return "--seeds 42,43,44";
}

// "sends 2.1 MB of gradients a step in 4.1 ms (12 % of it), 60 % of that while it computes"
std::optional<std::string> communication_note(const ModeRecord& mode) {
  constexpr double kBytesPerMegabyte = 1e6;
  for (const RunRecord* run : measured_runs(mode)) {
    if (!run->communication) continue;
    const CommunicationRecord& sent = *run->communication;
    std::string note = fmt::format("sends {:.3g} MB of gradients a step",
                                   static_cast<double>(sent.gradient_bytes) / kBytesPerMegabyte);
    if (!sent.ms) return note;
    note += fmt::format(" in {:.3g} ms", *sent.ms);
    const auto median = run->time.step_ms.median;
    if (median && *median > 0) note += fmt::format(" ({:.0f} % of it)", 100 * *sent.ms / *median);
    if (sent.hidden_ms && *sent.ms > 0) {
      note += fmt::format(", {:.0f} % of that while it computes", 100 * *sent.hidden_ms / *sent.ms);
    }
    return note;
  }
  return std::nullopt;
}

void add_mode_footnotes(const ModeRecord& mode, const Standing* standing, Table& table) {
  const std::string name = terminal_text(mode.mode);
  for (const Mark& mark : mode.marks) {
    if (traits_of(mark).is_quiet || mark.why.empty()) continue;
    table.footnotes.push_back(name + ": " + terminal_text(mark.id) + " (" +
                              shortened(terminal_text(mark.why)) + ")");
  }
  if (const auto sent = communication_note(mode)) table.footnotes.push_back(name + ": " + *sent);
  if (const auto reached = ceiling_note(mode)) table.footnotes.push_back(name + ": " + *reached);
  for (const std::string& note : run_notes(mode)) table.footnotes.push_back(name + ": " + note);
  for (const std::string& note : mode.notes) {
    table.footnotes.push_back(name + ": " + shortened(terminal_text(note)));
  }
  if (standing != nullptr && standing->total_ratio) {
    table.footnotes.push_back(
        name +
        (mode.own_batch ? ": speed is of a training sample" : ": speed is of the median step") +
        "; the whole run, with first steps and evaluation, is " +
        speed_text(Ratio{*standing->total_ratio, std::nullopt, std::nullopt}));
  }
}

// "? one seed: differences under 2 points say nothing; use --seeds 42,43,44"; with few test samples
// their number is named.
std::string one_seed_footnote(const ResultDocument& document, const Signs& signs) {
  const bool is_small_test_set = signs.test_samples && signs.one_seed_bound > kOneSeedAccuracy;
  return fmt::format("? one seed{}: differences under {} points say nothing; use {}",
                     is_small_test_set ? fmt::format(", {} test samples", *signs.test_samples) : "",
                     bound_text(signs.one_seed_bound), more_seeds(document));
}

void add_sign_footnotes(const ResultDocument& document, const Signs& signs, Table& table) {
  const auto add = [&](bool condition, const std::string& text) {
    if (condition) table.footnotes.push_back(text);
  };
  add(signs.one_seed, one_seed_footnote(document, signs));
  add(signs.one_run, "? one run each: speeds within a factor of 1.25 say little; use --repeats 5");
  add(signs.seed_noise,
      "≈ within seed noise: the 95 % interval of the difference includes 0, or it "
      "is under half a point");
  add(signs.marked_time, "! speed not to be judged: what the row is marked for may have made it");
  add(signs.time_noise, "≈ no established difference in speed of 5 % or more");
  add(signs.running_accuracy,
      "train accuracy is the running one over the last epoch, so it can be below test accuracy");
}

}  // namespace

Table comparison_table(const ResultDocument& document) {
  const ModeRecord* reference = reference_mode(document);
  const std::string versus =
      reference != nullptr ? "vs " + terminal_text(reference->mode) : "change";
  Table table;
  for (const TableColumn& column : kTableColumns) {
    table.header.push_back(*column.header == '\0' ? versus : column.header);
  }
  Signs signs;
  signs.test_samples = data_sizes(document).test;
  std::vector<Standing> all;
  if (reference != nullptr) all = standings(document, *reference);
  const auto standing_of = [&](const ModeRecord& mode) -> const Standing* {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Standing& one) { return one.mode == &mode; });
    return found == all.end() ? nullptr : &*found;
  };
  for (const ModeRecord& mode : document.modes) {
    const TableRow row{mode, reference, standing_of(mode), signs};
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const TableColumn& column : kTableColumns) cells.push_back(cell_of(column, row));
    signs.running_accuracy |= is_below_test_accuracy(mode);
  }
  add_sign_footnotes(document, signs, table);
  if (std::string note = devices_note(document); !note.empty()) {
    table.footnotes.push_back(std::move(note));
  }
  if (has_own_batches(document)) {
    table.footnotes.emplace_back(
        "each mode trains at the largest batch that fits it: steps, losses and accuracies are of "
        "other trainings, speed is of a training sample");
  }
  for (const ModeRecord& mode : document.modes) {
    add_mode_footnotes(mode, standing_of(mode), table);
  }
  return table;
}

}  // namespace precbench
