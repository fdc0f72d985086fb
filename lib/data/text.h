// A text for byte-level language models: any file, its bytes are its tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace precbench::data {

struct TextSet {
  std::vector<uint8_t> train, test;
};

// Reads a file, plain or gzip; its first nine tenths train, its last tenth tests (the split of
// Karpathy's character-level Shakespeare, which papers and nanoGPT use). Each part holds at least
// one sequence of `context` bytes and the byte that follows it. Throws FileError: missing,
// corrupt, too short, more than 4 GiB.
TextSet read_text(const std::string& path, int64_t context);

}  // namespace precbench::data
