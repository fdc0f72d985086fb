#include "bench/report/block.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/result/measured.h"
#include "bench/text/escape.h"
#include "bench/text/units.h"
#include "bench/text/words.h"

namespace precbench {
namespace {

std::string unknown_text(const Unknowns& unknown, const char* key) {
  const auto reason = unknown.find(key);
  if (reason == unknown.end()) return "unknown";
  return "unknown (" + shortened(terminal_text(reason->second), 100) + ")";
}

std::string accuracy_text(const RunRecord& run, const std::optional<double>& accuracy,
                          const char* key) {
  return accuracy ? fmt::format("{:.2f}%", 100 * *accuracy) : unknown_text(run.unknown, key);
}

std::string heading(const std::string& mode, const RunRecord& run, bool published_form) {
  std::string title = terminal_text(mode);
  if (!published_form) {
    title += fmt::format(", repeat {}", run.repeat + 1);
    if (run.role == Role::drift) title += ", again at the end (drift)";
  }
  return "===== " + title + " =====\n";
}

std::string figures(const RunRecord& run) {
  const auto& total = run.time.total_s;
  const auto& peak = run.memory.peak_allocated_bytes;
  return "Train Acc: " + accuracy_text(run, run.train_accuracy, "train_accuracy") +
         "\nTest Acc : " + accuracy_text(run, run.test_accuracy, "test_accuracy") +
         (run.test_perplexity ? fmt::format("\nTest PPL : {:.2f}", *run.test_perplexity) : "") +
         "\nTime     : " +
         (total ? fmt::format("{:.2f}s", *total) : unknown_text(run.time.unknown, "total_s")) +
         "\nMemory   : " +
         (peak ? fmt::format("{:.2f} MB", static_cast<double>(*peak) / kMebibyte)
               : unknown_text(run.memory.unknown, "peak_allocated_bytes")) +
         "\n";
}

// "Failed   : out of memory: <reason>"
std::string outcome(Status status, const std::optional<std::string>& reason) {
  const bool is_row = status == Status::unsupported || status == Status::skipped;
  std::string line = status == Status::unsupported ? "Unsupported"
                     : status == Status::skipped   ? "Skipped  "
                                                   : "Failed   ";
  std::string what = is_row ? "" : std::string(words_for(status));
  if (reason) what += (what.empty() ? "" : ": ") + shortened(terminal_text(*reason));
  return line + ": " + (what.empty() ? "no reason given" : what) + "\n";
}

struct Entry {
  int64_t order;
  std::string text;
};

}  // namespace

std::string render_block(const std::string& mode, int64_t seed, const RunRecord& run,
                         bool published_form) {
  return heading(mode, run, published_form) + fmt::format("Seed set to {}\n", seed) +
         (run.status == Status::ok ? figures(run) : outcome(run.status, run.reason));
}

std::string render_block(const ModeRecord& mode) {
  return "===== " + terminal_text(mode.mode) + " =====\n" + outcome(mode.status, mode.reason);
}

std::string render_blocks(const ResultDocument& document) {
  const bool published_form =
      std::all_of(document.modes.begin(), document.modes.end(), [](const ModeRecord& mode) {
        return std::all_of(mode.runs.begin(), mode.runs.end(), [](const RunRecord& run) {
          return run.repeat == 0 && run.role == Role::measure;
        });
      });
  std::vector<Entry> entries;
  int64_t last = -1;
  for (const ModeRecord& mode : document.modes) {
    // A mode without runs keeps its place among the modes.
    if (mode.runs.empty()) entries.push_back({last, render_block(mode)});
    for (const RunRecord& run : mode.runs) {
      last = run.order_index;
      entries.push_back({last, render_block(mode.mode, run.seed, run, published_form)});
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.order < b.order; });
  std::string text;
  for (const Entry& entry : entries) text += (text.empty() ? "" : "\n") + entry.text;
  return text;
}

}  // namespace precbench
