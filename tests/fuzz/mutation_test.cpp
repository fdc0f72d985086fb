// Every reader of foreign bytes on thousands of damaged inputs, the same ones in every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <ostream>
#include <random>

#include "targets.h"

namespace precbench::fuzz::mutation_test {

// ctest shows a parameter as GoogleTest prints it.
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

// A few seconds for all targets together, with sanitizers too.
constexpr int kInputsPerTarget = 2000;

// Bytes that formats give a meaning to, and the ends of the range.
constexpr std::string_view kTellingBytes("\0\x01\x7f\x80\xff\x1f\x8b\n\"\\{}[],:-0eE", 20);

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string damaged(std::string bytes) {
    for (size_t changes = 1 + below(4); changes > 0; --changes) change(bytes);
    return bytes;
  }

  // Not std::uniform_int_distribution: its results differ between standard libraries.
  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  void change(std::string& bytes) {
    const size_t at = below(bytes.size() + 1);
    const size_t count = std::min(bytes.size() - at, below(16));
    const char telling = kTellingBytes[below(kTellingBytes.size())];
    switch (below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = telling;
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, count);
        break;
      case 4:
        bytes.insert(at, bytes.substr(at, count));
        break;
      case 5:
        bytes.insert(at, 1 + below(8), telling);
        break;
      default:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, telling);
    }
  }

  std::mt19937 random_;
};

class Reader : public testing::TestWithParam<Target> {};

TEST_P(Reader, AcceptsWhatIsWellFormed) {
  for (const std::string& seed : GetParam().seeds()) {
    if (GetParam().name == "kernel_texts") {
      EXPECT_NO_THROW(GetParam().read(seed));  // each text is meant for one of its parsers
    } else {
      EXPECT_TRUE(GetParam().read(seed)) << seed;
    }
  }
}

TEST_P(Reader, KeepsItsPromisesOnDamagedInput) {
  const std::vector<std::string> seeds = GetParam().seeds();
  Mutator mutator(20240229);
  int refused = 0;
  for (int i = 0; i < kInputsPerTarget; ++i) {
    const std::string bytes = mutator.damaged(seeds[mutator.below(seeds.size())]);
    try {
      refused += GetParam().read(bytes) ? 0 : 1;
    } catch (const std::exception& error) {
      FAIL() << "input " << i << ": " << error.what() << "\n" << testing::PrintToString(bytes);
    }
  }
  EXPECT_GT(refused, 0) << "no input was damaged enough to be refused";
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Reader, testing::ValuesIn(targets()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace precbench::fuzz::mutation_test
