// The parts of one comparison (--shard) as one result.
#pragma once

#include <string>
#include <vector>

#include "bench/result/document.h"

namespace precbench {

struct Part {
  std::string file;
  ResultDocument document;
};

struct Merged {
  ResultDocument document;
  std::vector<std::string> warnings;  // parts that are missing, hosts that differ
};

// Every run of every part, with `machine`, an index into invocation.parts: [{file, index, host,
// started_at, duration_s}]. Rows of one kind of machine but other hosts get the mark other-host,
// which forbids verdicts on times, unless `across_machines`. Throws FileError for what is no part,
// for parts of other protocols, machines or counts, and for one that is there twice.
Merged merge_parts(std::vector<Part> parts, bool across_machines);

}  // namespace precbench
