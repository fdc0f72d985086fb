// Result documents for tests: one ok run per (seed, repeat), figures given by the test.
#pragma once

#include <string>
#include <vector>

#include "bench/result/document.h"

namespace precbench::testing {

inline RunRecord run_of(int64_t seed, int64_t repeat, double total_s, int64_t bytes,
                        double test_accuracy, double train_accuracy = 0.5) {
  RunRecord run;
  run.seed = seed;
  run.repeat = repeat;
  run.time.total_s = total_s;
  run.memory.peak_allocated_bytes = bytes;
  run.test_accuracy = test_accuracy;
  run.train_accuracy = train_accuracy;
  return run;
}

inline ModeRecord mode_of(const std::string& name, std::vector<RunRecord> runs) {
  ModeRecord mode;
  mode.mode = name;
  mode.effective_mode = name;
  mode.runs = std::move(runs);
  return mode;
}

inline ModeRecord failed_mode(const std::string& name, Status status, const std::string& reason) {
  ModeRecord mode = mode_of(name, {});
  mode.status = status;
  mode.reason = reason;
  return mode;
}

inline ResultDocument document_of(std::vector<ModeRecord> modes) {
  ResultDocument document;
  document.tool = {{"version", "0.1.0"}, {"build_type", "Release"}, {"libtorch", "2.11.0"}};
  document.protocol = {{"hash", "0"}, {"batch_size", 64}};
  document.environment = {{"device", {{"kind", "cuda"}, {"name", "Tesla T4"}}}};
  document.modes = std::move(modes);
  document.reference = "32-true";
  int64_t index = 0;
  for (ModeRecord& mode : document.modes) {
    for (RunRecord& run : mode.runs) run.order_index = index++;
  }
  return document;
}

}  // namespace precbench::testing
