// How often verdicts are wrong, by simulation: groups of runs drawn with a known shift and a known
// noise. The rates stand in docs/statistics.md, which this test reads, so that the table is true.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include "bench/compare/verdict_rule.h"
#include "documents.h"

namespace precbench {
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
  std::ifstream file(PRECBENCH_SOURCE_DIR "/docs/statistics.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string docs = text.str();
  const std::regex row(
      R"(\| (\d+) \| (\d+) % \| (\d+) % \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|)");
  int rows = 0;
  for (auto it = std::sregex_iterator(docs.begin(), docs.end(), row); it != std::sregex_iterator();
       ++it, ++rows) {
    const auto number = [&](size_t group) { return std::stod((*it)[group]); };
    const Rates rates = simulate(static_cast<int>(number(1)), number(2) / 100, number(3) / 100);
    // Another libm may move a trial across a boundary.
    EXPECT_NEAR(rates.worse, number(4), 0.2) << (*it)[0];
    EXPECT_NEAR(rates.better, number(5), 0.2) << (*it)[0];
    EXPECT_NEAR(rates.same, number(6), 0.2) << (*it)[0];
    EXPECT_NEAR(rates.inconclusive, number(7), 0.2) << (*it)[0];
  }
  EXPECT_EQ(rows, 12);
}

}  // namespace
}  // namespace precbench
