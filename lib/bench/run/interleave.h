// `precbench compare --run BASE HEAD`: two builds, two LibTorch versions or two sets of options,
// measured in turn, so that whatever moves the machine's speed slowly moves both alike.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/result/document.h"
#include "bench/run/side.h"

namespace precbench {

struct InterleavePlan {
  std::array<Side, 2> sides;         // base and head
  std::vector<std::string> options;  // of run, for both
  // Each in turns of its own, so that the two runs of a pair stand side by side; empty: as the
  // options say, all in one turn.
  std::vector<std::string> modes;
  std::string reference;
  int64_t rounds = 5;
  std::string results_dir = "results";
};

struct Turn {
  size_t side = 0;
  int64_t round = 0;
  std::string mode;  // empty: all
};

// Base, head, head, base, base, head, ...: ABBA for every mode.
std::vector<Turn> turns_of(const InterleavePlan& plan);

// Adds what a turn measured to the whole of its side: its runs become those of the round, `order`
// is the next place in the order of the runs of both sides. Throws FileError when the protocol
// changed meanwhile.
void append_turn(std::optional<ResultDocument>& whole, const ResultDocument& turn, int64_t round,
                 int64_t& order);

struct Interleaved {
  std::array<std::optional<ResultDocument>, 2> documents;
  std::array<std::string, 2> files;  // where they were saved
  std::optional<int> signal;         // SIGINT or SIGTERM ended it
};

// Runs all turns; after each, the side's file is saved. `tell` gets the lines for standard error.
// Throws UserError with the exit code of a side that cannot be run.
Interleaved interleave(const InterleavePlan& plan,
                       const std::function<void(const std::string&)>& tell);

}  // namespace precbench
