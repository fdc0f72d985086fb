// How often verdicts are wrong, by simulation: groups of runs drawn with a known change and a known
// noise. The rates stand in docs/statistics.md, which this test reads, so that its tables are true.
// A thousand trials each by default; PRECBENCH_SIMULATION=20000 makes it minutes, as the docs'
// were.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "../places.h"
#include "bench/judge/gate.h"
#include "documents.h"

namespace precbench::judge_simulation_test {
namespace {

using testing::document_of;
using testing::mode_of;
using testing::run_of;

// What the docs' rates were drawn with.
constexpr int kTrialsOfTheDocs = 20000;

int trials() {
  const char* given = std::getenv("PRECBENCH_SIMULATION");
  return given == nullptr ? 1000 : std::max(std::atoi(given), 100);
}

// Spelt out, since std::normal_distribution draws other values in every standard library.
class Noise {
 public:
  explicit Noise(uint64_t seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_() >> 11U) + 0.5) / 9007199254740992.0; }
  double operator()() {  // Box and Muller
    const double u = uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

 private:
  std::mt19937_64 engine_;
};

enum class Machine { steady, trend, sticky };

struct Scenario {
  const char* name;  // as in the docs' table
  int runs;
  double noise;
  int modes = 1;
  int slowed = 0;  // so many of the modes
  double slowdown = 0;
  Machine machine = Machine::steady;
  bool is_interleaved = false;
  double at_least = 0, at_most = 100;  // what is promised, in per cent
};

const char* const kModes[] = {"32-true", "16-mixed",  "bf16-mixed", "16-true",
                              "tf32",    "bf16-true", "64-true"};

// The machine's speed from run to run: 1 % slower each time, or two speeds 15 % apart, of which it
// leaves one with every fifth run.
class Speed {
 public:
  Speed(Machine machine, Noise& noise) : machine_(machine), noise_(noise) {
    is_slow_ = noise_.uniform() < 0.5;
  }
  double next() {
    if (machine_ == Machine::trend) return 1 + 0.01 * runs_++;
    if (machine_ == Machine::sticky && noise_.uniform() < 0.2) is_slow_ = !is_slow_;
    return machine_ == Machine::sticky && is_slow_ ? 1.15 : 1;
  }

 private:
  Machine machine_;
  Noise& noise_;
  bool is_slow_ = false;
  int runs_ = 0;
};

struct Files {
  ResultDocument base, head;
};

Files measured(const Scenario& scenario, Noise& noise) {
  Speed speed(scenario.machine, noise);
  std::vector<ModeRecord> sides[2];
  for (auto& side : sides) {
    for (int mode = 0; mode < scenario.modes; ++mode) side.push_back(mode_of(kModes[mode], {}));
  }
  int64_t order = 0;
  const auto run = [&](size_t side, int mode, int repeat) {
    const double clean = side == 1 && mode < scenario.slowed ? 1 + scenario.slowdown : 1;
    const double time = 100 * clean * speed.next() * (1 + scenario.noise * noise());
    RunRecord record = run_of(42, repeat, time, 1 << 20, 0.9);
    record.order_index = order++;
    sides[side][static_cast<size_t>(mode)].runs.push_back(record);
  };
  if (scenario.is_interleaved) {
    for (int repeat = 0; repeat < scenario.runs; ++repeat) {
      for (int mode = 0; mode < scenario.modes; ++mode) {
        for (const size_t turn : {0U, 1U})
          run((static_cast<size_t>(repeat) + turn) % 2, mode, repeat);
      }
    }
  } else {
    for (const size_t side : {0U, 1U}) {
      for (int repeat = 0; repeat < scenario.runs; ++repeat) {
        for (int mode = 0; mode < scenario.modes; ++mode) run(side, mode, repeat);
      }
    }
  }
  Files files;
  // Not document_of: it would number the runs again.
  for (const size_t side : {0U, 1U}) {
    ResultDocument& document = side == 0 ? files.base : files.head;
    document = document_of({});
    document.modes = sides[side];
    if (scenario.is_interleaved) document.invocation["interleaved"] = "a";
  }
  return files;
}

// Per cent of the trials with a failed verdict: of any mode without a change, or of each mode with
// one.
double failed(const Scenario& scenario) {
  Noise noise(12345);
  const std::vector<GateRule> rules = parse_gate_rules({"time:5%"});
  int count = 0;
  for (int trial = 0; trial < trials(); ++trial) {
    const Files files = measured(scenario, noise);
    const GateResult gate = evaluate_gate(files.base, files.head, rules, false);
    int found = 0;
    for (const GateVerdict& verdict : gate.verdicts) {
      const bool is_slowed =
          std::find(kModes, kModes + scenario.slowed, verdict.mode) != kModes + scenario.slowed;
      if (verdict.outcome == GateOutcome::failed && is_slowed == (scenario.slowed > 0)) ++found;
    }
    count += scenario.slowed > 0 ? found : (found > 0 ? 1 : 0);
  }
  return 100.0 * count / trials() / std::max(scenario.slowed, 1);
}

const Scenario kScenarios[] = {
    {"7 modes, 3 runs, 3 % noise, no change", 3, 0.03, 7, 0, 0, Machine::steady, false, 0, 2},
    {"7 modes, 5 runs, 3 % noise, no change", 5, 0.03, 7, 0, 0, Machine::steady, false, 0, 1.5},
    {"7 modes, 5 runs, 10 % noise, no change", 5, 0.10, 7, 0, 0, Machine::steady, false, 0, 2.5},
    {"7 modes, 10 runs, 10 % noise, no change", 10, 0.10, 7, 0, 0, Machine::steady, false, 0, 2.5},
    {"7 modes, 5 runs, 3 % noise, all 10 % slower", 5, 0.03, 7, 7, 0.10, Machine::steady, false,
     98},
    {"7 modes, 5 runs, 3 % noise, one 10 % slower", 5, 0.03, 7, 1, 0.10, Machine::steady, false,
     94},
    {"1 mode, 5 runs, 3 % noise, 10 % slower", 5, 0.03, 1, 1, 0.10, Machine::steady, false, 98},
    {"1 mode, 5 runs, 3 % noise, 14 % slower", 5, 0.03, 1, 1, 0.14, Machine::steady, false, 98},
    {"1 mode, 10 runs, 5 % noise, 10 % slower", 10, 0.05, 1, 1, 0.10, Machine::steady, false, 95},
    {"1 mode, 2 runs, 5 % noise, 50 % slower", 2, 0.05, 1, 1, 0.50, Machine::steady, false, 98},
    {"1 mode, 5 runs, 3 % noise, 10 % slower, interleaved", 5, 0.03, 1, 1, 0.10, Machine::steady,
     true, 90},
    {"1 mode, 10 runs, 3 % noise, 10 % slower, interleaved", 10, 0.03, 1, 1, 0.10, Machine::steady,
     true, 98},
    {"1 mode, 5 runs, trend, no change", 5, 0.01, 1, 0, 0, Machine::trend},
    {"1 mode, 10 runs, trend, no change", 10, 0.01, 1, 0, 0, Machine::trend},
    {"1 mode, 5 runs, trend, no change, interleaved", 5, 0.01, 1, 0, 0, Machine::trend, true, 0, 1},
    {"1 mode, 10 runs, trend, no change, interleaved", 10, 0.01, 1, 0, 0, Machine::trend, true, 0,
     1},
    {"3 modes, 5 runs, trend, no change, interleaved", 5, 0.01, 3, 0, 0, Machine::trend, true, 0,
     1},
    {"1 mode, 5 runs, sticky, no change", 5, 0.01, 1, 0, 0, Machine::sticky},
    {"1 mode, 10 runs, sticky, no change", 10, 0.01, 1, 0, 0, Machine::sticky},
    {"1 mode, 5 runs, sticky, no change, interleaved", 5, 0.01, 1, 0, 0, Machine::sticky, true, 0,
     1},
    {"1 mode, 10 runs, sticky, no change, interleaved", 10, 0.01, 1, 0, 0, Machine::sticky, true, 0,
     1},
    {"3 modes, 5 runs, sticky, no change, interleaved", 5, 0.01, 3, 0, 0, Machine::sticky, true, 0,
     1},
};

// How far two rates may lie apart that come from so many draws of their own, in per cent: four
// standard errors.
double tolerance(double rate) {
  const double share = std::clamp(rate / 100, 0.001, 0.999);
  return 400 * std::sqrt(share * (1 - share) * (1.0 / trials() + 1.0 / kTrialsOfTheDocs));
}

// "| 7 modes, 5 runs, 3 % noise, no change | 1.3 |" -> the rate by its name.
std::map<std::string, double> rates_of_the_docs() {
  std::ifstream file(source_dir() + "/docs/statistics.md");
  std::map<std::string, double> rates;
  for (std::string line; std::getline(file, line);) {
    const size_t end = line.rfind(" |"), bar = line.rfind("| ", end == 0 ? 0 : end - 1);
    if (!line.starts_with("| ") || end == std::string::npos || bar < 3) continue;
    const std::string rate = line.substr(bar + 2, end - bar - 2);
    char* rest = nullptr;
    const double value = std::strtod(rate.c_str(), &rest);
    if (rest != rate.c_str() && *rest == '\0') rates[line.substr(2, bar - 3)] = value;
  }
  return rates;
}

TEST(Simulation, GivesTheRatesOfTheDocsAndThoseThatArePromised) {
  const std::map<std::string, double> told = rates_of_the_docs();
  for (const Scenario& scenario : kScenarios) {
    const double rate = failed(scenario);
    if (std::getenv("PRECBENCH_SIMULATION") != nullptr) {
      std::printf("| %s | %.1f |\n", scenario.name, rate);
    }
    EXPECT_LE(rate, scenario.at_most + tolerance(scenario.at_most) / 2) << scenario.name;
    EXPECT_GE(rate, scenario.at_least - tolerance(scenario.at_least) / 2) << scenario.name;
    const auto row = told.find(scenario.name);
    if (row == told.end()) {
      ADD_FAILURE() << "docs/statistics.md has no row '" << scenario.name << "'; it is " << rate;
      continue;
    }
    EXPECT_NEAR(rate, row->second, tolerance(row->second) + 0.05) << scenario.name;
    EXPECT_LE(row->second, scenario.at_most) << scenario.name;
    EXPECT_GE(row->second, scenario.at_least) << scenario.name;
  }
}

// Others take up to F of the slower side's time, at any share: no verdict where there is no change.
TEST(Simulation, OthersNeverMakeADifference) {
  Noise noise(7);
  const auto verdict = [&](double true_ratio, double others) {
    const double lost = 2 * others * noise.uniform();
    RunRecord base = run_of(42, 0, 100 * (1 + 0.01 * noise()), 1, 0.9);
    RunRecord head = run_of(42, 0, 100 * true_ratio / (1 - lost) * (1 + 0.01 * noise()), 1, 0.9);
    base.others_share = head.others_share = others;
    std::vector<ModeRecord> modes = {mode_of("32-true", {base}), mode_of("32-true", {head})};
    ResultDocument files[2];
    for (const size_t side : {0U, 1U}) {
      modes[side].marks.push_back({"busy", "others"});
      files[side] = document_of({modes[side]});
      files[side].environment["cpu"] = {{"logical_cores", 2}, {"threads", 2}};
    }
    return evaluate_gate(files[0], files[1], parse_gate_rules({"time:5%"}), false).outcome;
  };
  int seven = 0;
  for (int trial = 0; trial < trials(); ++trial) {
    const double others = 0.1 + 0.1 * noise.uniform();
    EXPECT_EQ(verdict(1, others), GateOutcome::inconclusive);
    EXPECT_EQ(verdict(1.03, others), GateOutcome::inconclusive);
    seven += verdict(7, others) == GateOutcome::failed ? 1 : 0;
  }
  EXPECT_EQ(seven, trials());
}

// Whatever was decided to be a loss: as much or more of it, in more runs, is no pass.
TEST(MoreRepeats, NeverTurnADecidedLossOfTimeIntoAPass) {
  Noise noise(99);
  for (int trial = 0; trial < trials(); ++trial) {
    const double limit = trial % 2 == 0 ? 0.05 : 0.3 * noise.uniform();
    const double slowdown = 0.6 * noise.uniform(), spread = 0.15 * noise.uniform();
    ModeRecord base = mode_of("32-true", {}), head = base;
    std::optional<double> decided;
    for (int n = 0; n < 8; ++n) {
      base.runs.push_back(run_of(42, n, 100 * std::exp(spread * noise()), 1, 0.9));
      head.runs.push_back(run_of(42, n, 100 * std::exp(spread * noise()) * (1 + slowdown), 1, 0.9));
      const MetricComparison judged = judge({&base, &head, limit}, *find_metric("time"));
      if (decided && *judged.change >= *decided) {
        ASSERT_TRUE(judged.verdict == Verdict::worse || judged.verdict == Verdict::inconclusive)
            << n << " " << *judged.change << " " << *decided;
      }
      if (judged.verdict != Verdict::worse) continue;
      if (!decided || *judged.change < *decided) decided = judged.change;
      // The same figures twice are a loss as before.
      ModeRecord more_base = base, more_head = head;
      more_base.runs.insert(more_base.runs.end(), base.runs.begin(), base.runs.end());
      more_head.runs.insert(more_head.runs.end(), head.runs.begin(), head.runs.end());
      for (ModeRecord* mode : {&more_base, &more_head}) {
        for (size_t i = 0; i < mode->runs.size(); ++i)
          mode->runs[i].repeat = static_cast<int64_t>(i);
      }
      ASSERT_EQ(judge({&more_base, &more_head, limit}, *find_metric("time")).verdict,
                Verdict::worse);
    }
  }
}

TEST(MoreSeeds, NeverTurnADecidedLossOfAccuracyIntoAPass) {
  Noise noise(98);
  for (int trial = 0; trial < trials(); ++trial) {
    const double limit = trial % 2 == 0 ? 0.005 : 0.03 * noise.uniform();
    const double loss = 0.05 * noise.uniform(), spread = 0.02 * noise.uniform();
    ModeRecord base = mode_of("32-true", {}), head = base;
    std::optional<double> decided;
    JudgeOptions options;
    if (trial % 3 == 0) options.sizes.test = 1000;
    for (int n = 0; n < 8; ++n) {
      base.runs.push_back(run_of(n, 0, 100, 1, 0.8 + spread * noise()));
      head.runs.push_back(
          run_of(trial % 5 == 0 ? n + 3 : n, 0, 100, 1, 0.8 - loss + spread * noise()));
      const MetricComparison judged =
          judge({&base, &head, limit}, *find_metric("test_accuracy"), options);
      if (decided && *judged.change <= *decided) {
        ASSERT_TRUE(judged.verdict == Verdict::worse || judged.verdict == Verdict::inconclusive)
            << n << " " << judged.why;
      }
      if (judged.verdict == Verdict::worse && (!decided || *judged.change > *decided)) {
        decided = judged.change;
      }
    }
  }
}

}  // namespace
}  // namespace precbench::judge_simulation_test
