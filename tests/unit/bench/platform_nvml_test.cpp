#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "../places.h"
#include "bench/platform/nvml.h"

namespace precbench::platform_nvml_test {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Nvml : public ::testing::Test {
 protected:
  // What goes wrong; see tests/fake_nvml/fake_nvml.cpp.
  static void play(const char* scenario, const char* processes = "") {
    setenv("FAKE_NVML", scenario, 1);
    setenv("FAKE_NVML_PIDS", processes, 1);
  }
  void SetUp() override { play(""); }

  static std::string refusal(const std::string& library, const NvmlTarget& target) {
    try {
      NvmlDevice device(library, target);
    } catch (const NvmlError& error) {
      return error.what();
    }
    return "none";
  }

  // Samples one second apart, and what they amount to.
  static NvmlReport report_of(NvmlDevice& device, int count) {
    std::vector<NvmlSample> samples;
    for (int i = 0; i < count; ++i) {
      samples.push_back(device.sample());
      samples.back().time_s = i;
    }
    return nvml_report(samples, device.facts(), device.unknown(), std::nullopt);
  }

  static NvmlOptions quick() {
    NvmlOptions options;
    options.library = build_dir() + "/tests/fake_nvml/fake_nvml/libnvidia-ml.so.1";
    options.period = milliseconds(1);
    options.patience = milliseconds(20000);
    return options;
  }

  const std::string library_ = build_dir() + "/tests/fake_nvml/fake_nvml/libnvidia-ml.so.1";
  const NvmlTarget first_{"GPU-aaaa", ""};
};

void expect_explained(const json& object) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_null()) {
      EXPECT_TRUE(object["unknown"].contains(key)) << key;
      EXPECT_NE(object["unknown"].value(key, ""), "") << key;
    }
  }
  for (const auto& [key, reason] : object["unknown"].items())
    EXPECT_TRUE(object.contains(key) && object[key].is_null()) << key << ": " << reason;
}

TEST_F(Nvml, ReadsEverythingOfACardInGoodHealth) {
  NvmlDevice device(library_, first_);
  EXPECT_EQ(device.facts().driver, "580.65.06");
  EXPECT_EQ(device.facts().max_sm_clock_mhz, 1590);
  EXPECT_EQ(device.facts().ecc, true);
  const NvmlSample sample = device.sample();
  EXPECT_DOUBLE_EQ(*sample.power_w, 70);
  EXPECT_DOUBLE_EQ(*sample.energy_j, 1000);
  EXPECT_DOUBLE_EQ(*sample.temperature_c, 64);
  EXPECT_DOUBLE_EQ(*sample.sm_clock_mhz, 1200);
  EXPECT_DOUBLE_EQ(*sample.memory_clock_mhz, 5000);
  EXPECT_EQ(*sample.used_bytes, int64_t{512} << 20);
  EXPECT_EQ(*sample.ecc_errors, 0);
  EXPECT_THAT(*sample.processes, IsEmpty());
  EXPECT_THAT(device.unknown(), IsEmpty());
}

TEST_F(Nvml, ReportsTheCountersDifferenceAsEnergy) {
  NvmlDevice device(library_, first_);
  const NvmlReport report = report_of(device, 5);
  // Four seconds between five samples at 70 W.
  EXPECT_DOUBLE_EQ(report.energy["energy_j"], 280);
  EXPECT_EQ(report.energy["method"], "counter");
  EXPECT_DOUBLE_EQ(report.energy["mean_power_w"], 70);
  EXPECT_DOUBLE_EQ(report.energy["duration_s"], 4);
  EXPECT_DOUBLE_EQ(report.energy["sm_clock_mhz"]["limit"], 1590);
  EXPECT_DOUBLE_EQ(report.energy["clock_reasons"]["power cap"], 1.0);
  EXPECT_EQ(report.energy["ecc_errors"], 0);
  EXPECT_THAT(report.marks, IsEmpty());
  expect_explained(report.energy);
}

TEST_F(Nvml, FindsTheCardThatCudaMeansWhateverItsNumber) {
  EXPECT_DOUBLE_EQ(*NvmlDevice(library_, {"GPU-bbbb", ""}).sample().power_w, 300);
  EXPECT_DOUBLE_EQ(*NvmlDevice(library_, {"aaaa", ""}).sample().power_w, 70);
  EXPECT_DOUBLE_EQ(*NvmlDevice(library_, {"", "0000:3b:00.0"}).sample().power_w, 70);
  // A UUID that NVML does not know (a MIG slice of another mode): the PCI id still does.
  EXPECT_DOUBLE_EQ(*NvmlDevice(library_, {"GPU-cccc", "0000:AF:00.0"}).sample().power_w, 300);
}

TEST_F(Nvml, DoesNotGuessBetweenTwoCards) {
  EXPECT_THAT(refusal(library_, {}), HasSubstr("neither UUID nor PCI id"));
  EXPECT_EQ(refusal(library_, {"GPU-cccc", ""}), "NVML: Not Found (GPU-cccc)");
}

TEST_F(Nvml, AddsUpPowerWhereThereIsNoEnergyCounter) {
  play("no_energy");
  NvmlDevice device(library_, first_);
  const NvmlReport report = report_of(device, 5);
  EXPECT_DOUBLE_EQ(report.energy["energy_j"], 280);
  EXPECT_EQ(report.energy["method"], "power samples");
  expect_explained(report.energy);
}

TEST_F(Nvml, GivesTheReasonForEveryFigureThatIsDenied) {
  play("no_permission");
  NvmlDevice device(library_, first_);
  EXPECT_EQ(device.facts().driver, std::nullopt);
  EXPECT_EQ(device.facts().unknown.at("driver"), "NVML: Insufficient Permissions");
  const NvmlReport report = report_of(device, 3);
  for (const char* key :
       {"energy_j", "mean_power_w", "temperature_c", "sm_clock_mhz", "memory_clock_mhz",
        "clock_reasons", "device_used_bytes", "ecc_errors", "foreign_processes"}) {
    EXPECT_TRUE(report.energy[key].is_null()) << key;
    EXPECT_EQ(report.energy["unknown"][key], "NVML: Insufficient Permissions") << key;
  }
  EXPECT_THAT(report.marks, IsEmpty());
  expect_explained(report.energy);
}

TEST_F(Nvml, MarksARunInWhichTheCardGotTooHot) {
  play("throttling");
  NvmlDevice device(library_, first_);
  const NvmlReport report = report_of(device, 8);  // the third and the fourth are hot: 2 of 8
  EXPECT_DOUBLE_EQ(report.energy["clock_reasons"]["too hot (software)"], 0.25);
  ASSERT_EQ(report.marks.size(), 1U);
  EXPECT_EQ(report.marks[0].id, "throttled");
  EXPECT_EQ(report.marks[0].why, "clocks were lowered in 25 % of the samples: too hot (software)");
}

TEST_F(Nvml, ForgivesOneHotMomentOfALongRun) {
  play("throttling");
  NvmlDevice device(library_, first_);
  EXPECT_THAT(report_of(device, 41).marks, IsEmpty());  // 2 of 41 are 4.9 %
}

TEST_F(Nvml, CountsTheMemoryErrorsOfTheRunAlone) {
  play("ecc");
  NvmlDevice device(library_, first_);
  device.sample();
  EXPECT_EQ(report_of(device, 4).energy["ecc_errors"], 3);  // the counter read 1, 2, 3, 4
}

TEST_F(Nvml, ListsProcesses) {
  play("", "12,34,56");
  EXPECT_THAT(*NvmlDevice(library_, first_).sample().processes, ElementsAre(12, 34, 56));
}

TEST_F(Nvml, LivesWithAnOldDriver) {
  NvmlDevice device(build_dir() + "/tests/fake_nvml/fake_nvml_old/fake_nvml_old.so", first_);
  const NvmlReport report = report_of(device, 3);
  EXPECT_DOUBLE_EQ(report.energy["energy_j"], 140);
  EXPECT_EQ(report.energy["method"], "power samples");
  EXPECT_DOUBLE_EQ(report.energy["clock_reasons"]["power cap"], 1.0);
  EXPECT_EQ(report.energy["unknown"]["ecc_errors"], "this driver's NVML does not offer it");
  // The older call counts the driver's own 300 MiB.
  EXPECT_EQ(report.energy["device_used_bytes"], int64_t{812} << 20);
  EXPECT_TRUE(report.energy["sm_clock_mhz"]["limit"].is_null());
  expect_explained(report.energy);
  expect_explained(report.energy["sm_clock_mhz"]);
}

TEST_F(Nvml, TellsWhoElseUsesTheCard) {
  NvmlSample sample;
  sample.used_bytes = kOthersBytes + 1;
  const auto ids = [&](const NvmlFacts& facts, const std::optional<int64_t>& foreign) {
    std::string text;
    for (const Mark& mark : nvml_report({sample, sample}, facts, {}, foreign).marks)
      text += mark.id + " ";
    return text;
  };
  EXPECT_EQ(ids({}, std::nullopt), "busy ");
  EXPECT_EQ(ids({}, 2), "busy ");
  EXPECT_EQ(ids({}, 0), "");  // the driver lists everybody: the memory is nobody's
  sample.used_bytes = kOthersBytes;
  EXPECT_EQ(ids({}, std::nullopt), "");
  NvmlFacts shared;
  shared.is_virtual = true;
  EXPECT_EQ(ids(shared, 0), "shared ");
}

TEST_F(Nvml, SaysWhyThereIsNoDriver) {
  EXPECT_THAT(refusal("libprecbench-no-such-nvml.so.1", first_), HasSubstr("cannot be loaded"));
  play("no_driver");
  EXPECT_EQ(refusal(library_, first_), "NVML: Driver Not Loaded");
  EXPECT_THAT(refusal("libuv.so.1", first_),
              ::testing::AnyOf(HasSubstr("nvmlInit_v2"), HasSubstr("cannot be loaded")));
}

TEST(ForeignProcesses, AreThoseThatAreNotOurs) {
  const auto ours = [](int64_t pid) { return pid == 7; };
  EXPECT_EQ(foreign_processes({7}, ours), 0);
  EXPECT_EQ(foreign_processes({7, 8, 9}, ours), 2);
  // Ids of another namespace: one of them may be ours, no more.
  EXPECT_EQ(foreign_processes({}, ours), std::nullopt);
  EXPECT_EQ(foreign_processes({8}, ours), std::nullopt);
  EXPECT_EQ(foreign_processes({8, 9}, ours), 1);
}

TEST(NvmlReportOf, MarksClocksFarBelowTheCardsHighest) {
  NvmlSample sample;
  sample.sm_clock_mhz = 700;
  NvmlFacts facts;
  facts.max_sm_clock_mhz = 1590;
  const NvmlReport report = nvml_report({sample, sample}, facts, {}, std::nullopt);
  ASSERT_EQ(report.marks.size(), 1U);
  EXPECT_EQ(report.marks[0].why, "the mean clock was 44 % of the card's highest");
}

TEST(NvmlReportOf, LeavesOutTheClocksOfAnIdleCard) {
  NvmlSample idle, busy;
  idle.sm_clock_mhz = 300;
  idle.clock_reasons = kIdleReason;
  busy.sm_clock_mhz = 1500;
  busy.clock_reasons = 0;
  const NvmlReport report = nvml_report({idle, busy, idle}, {}, {}, std::nullopt);
  EXPECT_DOUBLE_EQ(report.energy["sm_clock_mhz"]["mean"], 1500);
}

TEST(NvmlReportOf, IntegratesPowerOverUnevenTimes) {
  std::vector<NvmlSample> samples(3);
  for (size_t i = 0; i < 3; ++i) {
    samples[i].time_s = std::vector<double>{0, 1, 4}[i];
    samples[i].power_w = std::vector<double>{10, 30, 50}[i];
  }
  // (10 + 30) / 2 * 1 + (30 + 50) / 2 * 3
  EXPECT_DOUBLE_EQ(nvml_report(samples, {}, {}, std::nullopt).energy["energy_j"], 140);
}

TEST(NvmlReportOf, TellsNothingFromOneSample) {
  NvmlSample sample;
  sample.energy_j = 5;
  const json energy = nvml_report({sample}, {}, {}, std::nullopt).energy;
  EXPECT_TRUE(energy["energy_j"].is_null());
  EXPECT_EQ(energy["unknown"]["energy_j"], "too few samples were taken");
  expect_explained(energy);
}

TEST_F(Nvml, MonitorSamplesWhileARunLasts) {
  NvmlMonitor monitor(first_, quick());
  std::string reason;
  ASSERT_TRUE(monitor.facts(reason)) << reason;
  for (int run = 0; run < 2; ++run) {
    monitor.begin();
    std::this_thread::sleep_for(milliseconds(50));
    const NvmlReport report = monitor.end();
    const int64_t samples = report.energy["samples"];
    EXPECT_GE(samples, 2);
    // The fake counts one second of 70 W a sample.
    EXPECT_DOUBLE_EQ(report.energy["energy_j"], 70.0 * static_cast<double>(samples - 1));
    EXPECT_GT(report.energy["duration_s"].get<double>(), 0);
    expect_explained(report.energy);
  }
}

TEST_F(Nvml, MonitorMarksARunThatSharedItsCard) {
  const std::string processes = std::to_string(getpid()) + ",2,3";
  play("", processes.c_str());
  NvmlMonitor monitor(first_, quick());
  monitor.begin();
  std::this_thread::sleep_for(milliseconds(20));
  const NvmlReport report = monitor.end();
  EXPECT_EQ(report.energy["foreign_processes"], 2);
  ASSERT_EQ(report.marks.size(), 1U);
  EXPECT_EQ(report.marks[0].id, "busy");
  EXPECT_EQ(report.marks[0].why, "2 other processes used the GPU");
}

TEST_F(Nvml, MonitorKnowsAWorkerOfThisProgram) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  play("", std::to_string(child).c_str());
  NvmlMonitor monitor(first_, quick());
  monitor.begin();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(monitor.end().energy["foreign_processes"], 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(Nvml, MonitorWithoutADriverExplainsEveryFigure) {
  NvmlOptions options = quick();
  options.library = "libprecbench-no-such-nvml.so.1";
  NvmlMonitor monitor(first_, options);
  monitor.begin();
  const NvmlReport report = monitor.end();
  EXPECT_TRUE(report.energy["energy_j"].is_null());
  EXPECT_THAT(report.energy["unknown"]["energy_j"].get<std::string>(),
              HasSubstr("cannot be loaded"));
  expect_explained(report.energy);
}

TEST_F(Nvml, MonitorIsHeldUpByAHangingDriverOnlyOnce) {
  play("hang");
  NvmlOptions options = quick();
  options.patience = milliseconds(100);
  NvmlMonitor monitor(first_, options);
  monitor.begin();  // waits its 100 ms
  const auto given_up = std::chrono::steady_clock::now();
  for (int run = 0; run < 200; ++run) {
    const NvmlReport report = monitor.end();
    EXPECT_EQ(report.energy["unknown"]["energy_j"], "NVML did not answer within 100 ms");
    monitor.begin();
  }
  // 400 waits of 100 ms would be 40 s.
  EXPECT_LT(std::chrono::steady_clock::now() - given_up, std::chrono::seconds(10));
}

TEST_F(Nvml, MonitorGivesUpADriverThatStopsAnswering) {
  play("hang_later");
  NvmlOptions options = quick();
  options.patience = milliseconds(100);
  NvmlMonitor monitor(first_, options);
  monitor.begin();
  std::this_thread::sleep_for(milliseconds(50));
  const NvmlReport report = monitor.end();
  EXPECT_TRUE(report.energy["energy_j"].is_null());
  EXPECT_THAT(report.energy["unknown"]["energy_j"].get<std::string>(), HasSubstr("answer"));
}

TEST_F(Nvml, MonitorHasNothingToSayOfARunThatNeverBegan) {
  NvmlMonitor monitor(first_, quick());
  EXPECT_EQ(monitor.end().energy["unknown"]["energy_j"], "nothing was sampled");
}

}  // namespace
}  // namespace precbench::platform_nvml_test
