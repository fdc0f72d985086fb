// How often verdicts are wrong, by simulation: groups of runs drawn with a known shift and a known
// noise. The rates stand in docs/statistics.md, which this test reads, so that the table is true.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>

#include "../places.h"
#include "bench/compare/verdict_rule.h"
#include "documents.h"

namespace precbench::compare_simulation_test {
namespace {

using testing::mode_of;
using testing::run_of;

constexpr int kTrials = 1000;

// Spelt out, since std::normal_distribution draws other values in every standard library.
class Noise {
 public:
  explicit Noise(uint64_t seed) : engine_(seed) {}
  double operator()() {  // Box and Muller
    const double u = (static_cast<double>(engine_() >> 11U) + 0.5) / 9007199254740992.0;
    const double v = (static_cast<double>(engine_() >> 11U) + 0.5) / 9007199254740992.0;
    return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

 private:
  std::mt19937_64 engine_;
};

struct Rates {
  double worse = 0, better = 0, same = 0, inconclusive = 0;  // percent of the trials
};

Rates simulate(int n, double noise_share, double slowdown) {
  Noise noise(12345);
  const auto draw = [&](double mean) {
    std::vector<RunRecord> runs;
    for (int i = 0; i < n; ++i) {
      runs.push_back(run_of(42, i, mean * (1 + noise_share * noise()), 1 << 20, 0.9));
    }
    return mode_of("32-true", runs);
  };
  int counts[4] = {0, 0, 0, 0};
  for (int trial = 0; trial < kTrials; ++trial) {
    const ModeRecord base = draw(100), current = draw(100 * (1 + slowdown));
    const auto verdict = compare_metric(base, current, *find_metric("time"), kTimeLimit).verdict;
    ++counts[static_cast<int>(verdict)];
  }
  const auto rate = [&](Verdict verdict) {
    return 100.0 * counts[static_cast<int>(verdict)] / kTrials;
  };
  return {rate(Verdict::worse), rate(Verdict::better), rate(Verdict::same),
          rate(Verdict::inconclusive)};
}

TEST(Simulation, AtMostOneFalseAlarmInAHundred) { EXPECT_LE(simulate(5, 0.03, 0.0).worse, 1.0); }

TEST(Simulation, FindsTenPercentAtThreePercentNoise) {
  EXPECT_GE(simulate(5, 0.03, 0.10).worse, 95.0);
}

// | 5 | 3 % | 0 % | 0.4 | 0.5 | 90.1 | 9.0 |: runs, noise, slowdown, then the four rates.
TEST(Simulation, GivesTheTableOfTheDocs) {
  std::ifstream file(source_dir() + "/docs/statistics.md");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    int runs = 0, noise = 0, slowdown = 0;
    Rates told;
    const int read =
        std::sscanf(line.c_str(), "| %d | %d %% | %d %% | %lf | %lf | %lf | %lf |", &runs, &noise,
                    &slowdown, &told.worse, &told.better, &told.same, &told.inconclusive);
    if (read != 7) continue;
    ++rows;
    const Rates rates = simulate(runs, noise / 100.0, slowdown / 100.0);
    // Another libm may move a trial across a boundary.
    EXPECT_NEAR(rates.worse, told.worse, 0.2) << line;
    EXPECT_NEAR(rates.better, told.better, 0.2) << line;
    EXPECT_NEAR(rates.same, told.same, 0.2) << line;
    EXPECT_NEAR(rates.inconclusive, told.inconclusive, 0.2) << line;
  }
  EXPECT_EQ(rows, 12);
}

}  // namespace
}  // namespace precbench::compare_simulation_test
