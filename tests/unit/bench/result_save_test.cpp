#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "../places.h"
#include "../temporary.h"
#include "bench/files/atomic_file.h"
#include "bench/judge/marks.h"
#include "bench/result/document.h"
#include "bench/result/protocol_hash.h"
#include "common/errors.h"
#include "documents.h"

namespace precbench::result_save_test {
namespace {

using testing::document_of;
using testing::failed_mode;
using ::testing::HasSubstr;
using testing::mode_of;
using testing::run_of;

std::string folder() {
  const std::string path = temporary_path("save");
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

// Every member that a run can have, so that none is lost between a save and a resume.
RunRecord full_run() {
  RunRecord run = run_of(42, 1, 12.5, 1 << 20, 0.8, 0.7);
  run.train_loss = 0.1 + 0.2;  // needs 17 digits
  run.epochs.push_back({1, 0.7, 0.8, 0.5, 0.6, 10.0, 2.5, {}});
  run.time.step_ms = {3.25, 3.0, 5.0, {4.0, std::nullopt, 3.0}};
  run.time.unknown["startup_s"] = "not measured here";
  run.memory.breakdown = {{"weights_bytes", 17}};
  run.scaler = ScalerRecord{65536, 32768, 1};
  run.numerics = {{"nonfinite_steps", 0}};
  run.loss_trace = {2.3, std::nullopt, 2.1};
  run.loss_trace_stride = 3;
  return run;
}

TEST(SaveResult, ReadsBackWhatItWrote) {
  ResultDocument document = document_of(
      {mode_of("16-mixed", {full_run()}), failed_mode("32-true", Status::oom, "no memory")});
  document.modes[0].support = Support{SupportLevel::emulated, "native from Ampere (8.0)"};
  document.modes[0].pilot = PilotRecord{3, 4980.0, 7 << 20, 42, {2.5, std::nullopt}, {}};
  document.modes[0].marks = {{"busy", "load 7 on 2 cores"}};
  document.modes[0].notes = {"a note"};
  document.modes[0].recipe.param_dtype = "float32";
  document.gate = {{"rules", {"time:5%"}}, {"verdicts", json::array()}, {"outcome", "passed"}};
  const std::string path = folder() + "/result.json";
  save_result(document, path);
  EXPECT_EQ(to_json(load_result(path)), to_json(document));
}

TEST(SaveResult, LeavesNothingElseBehindAndReplacesTheOldFile) {
  const std::string where = folder();
  save_result(document_of({}), where + "/result.json");
  save_result(document_of({mode_of("32-true", {})}), where + "/result.json");
  const auto files = std::filesystem::directory_iterator(where);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  EXPECT_EQ(load_result(where + "/result.json").modes.size(), 1U);
}

TEST(SaveResult, IsAsReadableAsAnyOtherNewFile) {
  const std::string path = folder() + "/result.json";
  const mode_t before = ::umask(022);
  save_result(document_of({}), path);
  ::umask(before);
  EXPECT_EQ(std::filesystem::status(path).permissions(), static_cast<std::filesystem::perms>(0644));
}

TEST(SaveResult, NamesThePathAndTheReason) {
  try {
    save_result(document_of({}), "/nowhere/result.json");
    FAIL() << "saved into a folder that is not there";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/result.json"));
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
}

TEST(SaveResult, MakesTextsOfCrashedProgramsUtf8) {
  const std::string path = folder() + "/result.json";
  save_result(document_of({failed_mode("32-true", Status::error, "broken \xFF byte")}), path);
  EXPECT_EQ(load_result(path).modes[0].reason, "broken \xEF\xBF\xBD byte");
}

TEST(SaveResult, GoesThroughLinksAndKeepsPermissions) {
  const std::string where = folder();
  std::ofstream(where + "/real.json") << "old";
  std::filesystem::permissions(where + "/real.json", static_cast<std::filesystem::perms>(0600));
  std::filesystem::create_symlink("real.json", where + "/link.json");
  std::filesystem::create_symlink(where + "/link.json", where + "/link2.json");
  std::filesystem::create_symlink("new.json", where + "/dangling.json");
  save_result(document_of({}), where + "/link2.json");
  save_result(document_of({}), where + "/dangling.json");
  for (const char* link : {"/link.json", "/link2.json", "/dangling.json"})
    EXPECT_TRUE(std::filesystem::is_symlink(where + link)) << link;
  EXPECT_NO_THROW(load_result(where + "/new.json"));
  EXPECT_NO_THROW(load_result(where + "/real.json"));
  EXPECT_EQ(std::filesystem::status(where + "/real.json").permissions(),
            static_cast<std::filesystem::perms>(0600));
  std::filesystem::create_symlink("loop", where + "/loop");
  EXPECT_THROW(save_result(document_of({}), where + "/loop"), FileError);
}

TEST(SaveNewResult, TakesANameThatNobodyHas) {
  const std::string where = folder();
  std::ofstream(where + "/run-2.json") << "somebody's";
  EXPECT_EQ(save_new_result(document_of({}), where + "/run"), where + "/run.json");
  EXPECT_EQ(save_new_result(document_of({}), where + "/run"), where + "/run-3.json");
  const auto files = std::filesystem::directory_iterator(where);
  EXPECT_EQ(std::distance(begin(files), end(files)), 3);
  EXPECT_EQ(std::filesystem::file_size(where + "/run-2.json"), 10U);
}

TEST(Sweep, TakesTheDeadAndSparesTheLiving) {
  const std::string where = folder();
  std::ofstream(where + "/.precbench-dead00.tmp") << "half";
  std::ofstream(where + "/result.json") << "whole";
  const std::string living = where + "/.precbench-alive0.tmp";
  const int fd = ::open(living.c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  sweep_temporary_files(where);
  EXPECT_FALSE(std::filesystem::exists(where + "/.precbench-dead00.tmp"));
  EXPECT_TRUE(std::filesystem::exists(where + "/result.json"));
  EXPECT_TRUE(std::filesystem::exists(living));
  ::close(fd);
  sweep_temporary_files(where);
  EXPECT_FALSE(std::filesystem::exists(living));
  EXPECT_NO_THROW(sweep_temporary_files("/nowhere"));
}

TEST(ToJson, DerivesSummaryAndRelative) {
  const json document = to_json(document_of({mode_of("16-mixed", {run_of(1, 0, 5, 100, 0.80)}),
                                             mode_of("32-true", {run_of(1, 0, 10, 200, 0.81)})}));
  const json& mode = document["modes"][0];
  EXPECT_EQ(mode["summary"]["time"]["mean"], 5.0);
  EXPECT_EQ(mode["summary"]["time"]["n"], 1);
  EXPECT_TRUE(mode["summary"]["time"]["std"].is_null());
  EXPECT_EQ(mode["summary"]["time"]["unknown"]["std"], "needs two runs");
  EXPECT_EQ(mode["relative"]["time"]["ratio"], 0.5);
  EXPECT_NEAR(mode["relative"]["test_accuracy"]["difference"].get<double>(), -0.01, 1e-12);
  EXPECT_TRUE(mode["summary"]["step_time"].is_null());
  EXPECT_EQ(mode["summary"]["unknown"]["step_time"], "not measured");
  EXPECT_TRUE(document["modes"][1]["relative"].is_null());
}

// A drift run and a failed one are no measurements.
TEST(ToJson, LeavesDriftAndFailedRunsOutOfTheSummary) {
  RunRecord drift = run_of(1, 0, 99, 100, 0.5), failed = run_of(1, 1, 99, 100, 0.5);
  drift.role = Role::drift;
  failed.status = Status::timeout;
  const json document =
      to_json(document_of({mode_of("32-true", {run_of(1, 0, 10, 1, 0.5), drift, failed})}));
  EXPECT_EQ(document["modes"][0]["summary"]["time"]["mean"], 10.0);
  EXPECT_EQ(document["modes"][0]["summary"]["time"]["n"], 1);
}

// Repeats of a seed give its accuracy again: they are one seed.
TEST(ToJson, CountsSeedsForAccuracyAndRunsForTime) {
  const json document = to_json(document_of({mode_of(
      "32-true", {run_of(1, 0, 10, 1, 0.5), run_of(1, 1, 11, 1, 0.5), run_of(2, 0, 10, 1, 0.6)})}));
  const json& summary = document["modes"][0]["summary"];
  EXPECT_EQ(summary["test_accuracy"]["n"], 2);
  EXPECT_NEAR(summary["test_accuracy"]["mean"].get<double>(), 0.55, 1e-12);
  EXPECT_EQ(summary["time"]["n"], 3);
}

// sha256sum of {"a":1,"b":[2.5]}
TEST(ProtocolHash, IsOfTheSortedObjectWithoutItself) {
  const json protocol = {{"hash", "anything"}, {"b", {2.5}}, {"a", 1}};
  EXPECT_EQ(protocol_hash(protocol),
            "1d97f1c6350e2d952e3db713f3d5e3b3992bc269e1e2351d30c1b917ee185bde");
}

TEST(PublishedFile, IsWhatSavingItWouldWrite) {
  const std::string path = source_dir() + "/results/reference/published-t4.json";
  const ResultDocument document = load_result(path);
  EXPECT_EQ(document.protocol["hash"], protocol_hash(document.protocol));
  EXPECT_EQ(document.reference, "32-true");
  ASSERT_EQ(document.modes.size(), 3U);
}

}  // namespace
}  // namespace precbench::result_save_test
