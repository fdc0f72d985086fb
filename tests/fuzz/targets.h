// What precbench reads from outside, each as a function of bytes, with inputs to start from. Used
// by mutation_test.cpp (seeded, in every test run) and by fuzzer.cpp (libFuzzer, by hand).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace precbench::fuzz {

struct Target {
  std::string_view name;
  // Well-formed inputs.
  std::vector<std::string> (*seeds)();
  // Reads `bytes`. An input that is refused as the reader's header says is fine; everything else
  // leaves this function as an exception: a broken promise, or an exception that the reader does
  // not speak of. Returns whether the input was accepted.
  bool (*read)(std::string_view bytes);
};

const std::vector<Target>& targets();

}  // namespace precbench::fuzz
