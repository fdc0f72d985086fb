// May two results be compared, and what stands between them?
#pragma once

#include <string>
#include <vector>

#include "bench/result/document.h"

namespace precbench {

// Members of `protocol` (without hash and reasons) whose values differ, "batch_size (128, 64)".
// Empty for the same protocol: the members decide, the hash is only their short form.
std::vector<std::string> protocol_differences(const ResultDocument& base,
                                              const ResultDocument& current);

// Throws FileError (exit code 5) naming the fields that differ, unless are_interleaved.
void require_same_protocol(const ResultDocument& base, const ResultDocument& current);

// What makes `current` another machine than `base` (device, CPU, threads; LibTorch unless
// are_interleaved), as fragments: "LibTorch 2.8.0 and 2.11.0". A GPU whose name is not known is
// another one. Figures of time and memory then say nothing about a change.
std::vector<std::string> machine_differences(const ResultDocument& base,
                                             const ResultDocument& current);

// What differs without making it another machine (driver, CUDA, cuDNN, version of the tool).
std::vector<std::string> software_differences(const ResultDocument& base,
                                              const ResultDocument& current);

// Puts the mark other-machine on every mode of `current` when machine_differences has something to
// say, and takes it away otherwise: one that stands there is of an earlier comparison.
void mark_other_machine(const ResultDocument& base, ResultDocument& current);

// Whether the two were measured in turn by `compare --run`: then their runs are pairs, and what
// differs between them (protocol, LibTorch) is what the user wanted to compare.
bool are_interleaved(const ResultDocument& base, const ResultDocument& current);

// Without the marks of earlier comparisons.
void clear_other_machine(ResultDocument& document);

}  // namespace precbench
