#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/report/matrix.h"
#include "documents.h"

namespace precbench::report_matrix_test {
namespace {

using testing::document_of;
using ::testing::ElementsAre;
using testing::failed_mode;
using ::testing::HasSubstr;
using testing::mode_of;
using testing::run_of;

ResultDocument on(const std::string& device, double half_s, double single_s) {
  ResultDocument document =
      document_of({mode_of("16-mixed", {run_of(42, 0, half_s, 1 << 20, 0.9)}),
                   mode_of("32-true", {run_of(42, 0, single_s, 2 << 20, 0.9)})});
  document.environment["device"]["name"] = device;
  return document;
}

const MetricTraits& metric(const char* name) { return *find_metric(name); }

TEST(Matrix, KeepsProtocolsApart) {
  ResultDocument other = on("Tesla T4", 10, 20);
  other.protocol["batch_size"] = 128;
  const auto groups =
      matrix_of({on("Tesla T4", 10, 20), other, on("Tesla P100", 30, 20)}, {"a", "b", "c"});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].entries.size(), 2U);
  EXPECT_THAT(groups[1].workload, HasSubstr("batch 128"));
}

TEST(Matrix, MarksTheBestOfEachRow) {
  const auto groups = matrix_of({on("Tesla T4", 10, 20), on("Tesla P100", 30, 20)}, {"a", "b"});
  const MatrixTable table = matrix_table(groups[0], metric("time"));
  EXPECT_THAT(table.header,
              ElementsAre("machine", "32-true", "16-mixed", "LibTorch", "CUDA", "driver"));
  EXPECT_THAT(table.rows[0], ElementsAre("Tesla T4", "20.00s", "10.00s *", "2.11.0", "-", "-"));
  EXPECT_THAT(table.rows[1], ElementsAre("Tesla P100", "20.00s *", "30.00s", "2.11.0", "-", "-"));
}

// 10 and 11 s of single runs cannot be told apart: no winner is made up.
TEST(Matrix, MarksNoneWhereNoneIsBetter) {
  const auto groups = matrix_of({on("Tesla T4", 10, 11)}, {"a"});
  EXPECT_THAT(matrix_table(groups[0], metric("time")).rows[0],
              ElementsAre("Tesla T4", "11.00s", "10.00s", "2.11.0", "-", "-"));
}

TEST(Matrix, SaysWhatBecameOfAModeWithoutFigures) {
  ResultDocument document = on("Tesla T4", 10, 20);
  document.modes.push_back(failed_mode("tf32", Status::unsupported, "native from Ampere (8.0)"));
  document.modes[0].support = Support{SupportLevel::emulated, "native from Volta (7.0)"};
  const auto groups = matrix_of({document}, {"a"});
  EXPECT_THAT(matrix_table(groups[0], metric("time")).rows[0],
              ElementsAre("Tesla T4", "20.00s", "10.00s e *", "unsupported", "2.11.0", "-", "-"));
}

// A dead model must not win, whatever chance gave it.
TEST(Matrix, NeverMarksADeadModel) {
  ResultDocument document = document_of({mode_of("16-true", {run_of(42, 0, 1, 1, 0.105)}),
                                         mode_of("32-true", {run_of(42, 0, 1, 1, 0.9)})});
  document.protocol["dataset"] = "fashion-mnist";
  const auto groups = matrix_of({document}, {"a"});
  EXPECT_THAT(matrix_table(groups[0], metric("test_accuracy")).rows[0],
              ElementsAre("Tesla T4", "90.00 %", "10.50 % c", "2.11.0", "-", "-"));
}

TEST(Matrix, NamesFilesWhereADeviceStandsThereTwice) {
  const auto groups = matrix_of({on("Tesla T4", 10, 20), on("Tesla T4", 11, 20)}, {"mon", "tue"});
  EXPECT_EQ(groups[0].entries[0].label, "Tesla T4 (mon)");
  EXPECT_EQ(groups[0].entries[1].label, "Tesla T4 (tue)");
}

TEST(Matrix, RecommendsPerMachine) {
  const auto groups = matrix_of({on("Tesla T4", 10, 20), on("Tesla P100", 30, 20)}, {"a", "b"});
  const std::string text = render_matrix(groups, {&metric("time")}, "text", {});
  EXPECT_THAT(text, HasSubstr("\nTesla T4: Use 16-mixed here: 2.0 times faster than 32-true"));
  EXPECT_THAT(text, HasSubstr("\nTesla P100: No mode is clearly faster than 32-true here"));
}

TEST(Matrix, EscapesNamesOfDevices) {
  const auto groups = matrix_of({on("a|b\n\x1b[31m=c", 10, 20)}, {"a"});
  EXPECT_THAT(render_matrix(groups, {&metric("time")}, "markdown", {}),
              HasSubstr("| a\\|b ?\\[31m=c |"));
}

// One of its seeds diverged: the others' figures are those of a mode that is not ok.
TEST(Matrix, NeverMarksAModeThatIsNotOk) {
  ResultDocument document = on("Tesla T4", 10, 20);
  document.modes[0].status = Status::diverged;
  const auto groups = matrix_of({document}, {"a"});
  EXPECT_THAT(matrix_table(groups[0], metric("time")).rows[0],
              ElementsAre("Tesla T4", "20.00s", "10.00s diverged", "2.11.0", "-", "-"));
}

TEST(Matrix, TellsTheMarksInEveryFormat) {
  ResultDocument document = on("Tesla T4", 10, 20);
  document.modes[0].marks.push_back({"busy", "others"});
  const auto groups = matrix_of({document}, {"a"});
  EXPECT_THAT(render_matrix(groups, {&metric("time")}, "csv", {}), HasSubstr(",1,ok,busy n=1\n"));
  const json machines = json::parse(render_matrix(groups, {&metric("time")}, "json", {}));
  EXPECT_EQ(machines[0]["machines"][0]["modes"]["16-mixed"]["marks"], json({"busy", "n=1"}));
}

// A busy machine's time is shown, and is no record.
TEST(Matrix, ATimeThatIsNotToBeJudgedIsNoBest) {
  ResultDocument document = document_of({mode_of("16-mixed", {run_of(42, 0, 5, 100, 0.9)}),
                                         mode_of("32-true", {run_of(42, 0, 10, 200, 0.9)})});
  for (ModeRecord& mode : document.modes) mode.marks.push_back({"busy", "others"});
  const auto groups = matrix_of({document}, {"a.json"});
  const auto times = matrix_table(groups[0], *find_metric("time")).rows[0];
  EXPECT_EQ(times[1], "10.00s !");
  EXPECT_EQ(times[2], "5.00s !");
  EXPECT_THAT(matrix_table(groups[0], *find_metric("memory")).rows[0][2], HasSubstr("*"));
}

}  // namespace
}  // namespace precbench::report_matrix_test
