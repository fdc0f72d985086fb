// The sentences under the table: which mode to train in here, on what grounds, or why nothing can
// be said; and the line to paste into one's own code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/document.h"

namespace precbench {

struct Recommendation {
  std::vector<std::string> sentences;  // UTF-8; texts from the file are in terminal_text's form
  std::string mode;                    // empty when none is recommended
  std::string code;                    // what to write in one's own code; empty without a mode
  std::string closing;                 // of a CPU result: it says nothing about a GPU
};

Recommendation recommend(const ResultDocument& document);

// All of it as lines of text.
std::vector<std::string> summary_lines(const Recommendation& recommendation);

// Trainer(precision="16-mixed") or Fabric(precision="16-mixed")
std::string code_for(const std::string& mode, int64_t devices = 1);

}  // namespace precbench
