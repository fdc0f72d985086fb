// The exact texts that people see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../places.h"
#include "bench/judge/marks.h"
#include "bench/report/block.h"
#include "bench/report/formats.h"
#include "common/errors.h"
#include "documents.h"

namespace precbench::report_text_test {
namespace {

using testing::document_of;
using testing::failed_mode;
using ::testing::HasSubstr;
using testing::mode_of;
using ::testing::Not;
using testing::run_of;

ResultDocument published() {
  ResultDocument document = load_result(source_dir() + "/results/reference/published-t4.json");
  assign_marks(document);
  return document;
}

TEST(ReportPrinter, PrintsThePublishedBlocks) {
  EXPECT_EQ(render("report", published()),
            "===== 16-mixed =====\n"
            "Seed set to 42\n"
            "Train Acc: 38.87%\n"
            "Test Acc : 46.15%\n"
            "Time     : 987.84s\n"
            "Memory   : 5603.31 MB\n"
            "\n"
            "===== bf16-mixed =====\n"
            "Seed set to 42\n"
            "Train Acc: 42.05%\n"
            "Test Acc : 46.14%\n"
            "Time     : 4992.44s\n"
            "Memory   : 7415.20 MB\n"
            "\n"
            "===== 32-true =====\n"
            "Seed set to 42\n"
            "Train Acc: 40.74%\n"
            "Test Acc : 47.37%\n"
            "Time     : 3692.28s\n"
            "Memory   : 8805.79 MB\n");
}

TEST(TablePrinter, PrintsThePublishedComparison) {
  EXPECT_EQ(
      render("table", published()),
      "mode        test acc  vs 32-true  train acc  time     speed         peak MiB  vs 32-true  "
      "notes\n"
      "16-mixed    46.15 %   -1.22 pp ?  38.87 %    16m 28s  3.74x faster  5603      -36 %\n"
      "bf16-mixed  46.14 %   -1.23 pp ?  42.05 %    83m 12s  1.35x slower  7415      -16 %       "
      "emulated\n"
      "32-true     47.37 %   ref         40.74 %    61m 32s  ref           8806      ref\n"
      "? one seed: differences under 2 points say nothing; use --seeds 42,43,44\n"
      "train accuracy is the running one over the last epoch, so it can be below test accuracy\n"
      "bf16-mixed: emulated (native from Ampere (8.0))\n"
      "\n"
      "Use 16-mixed here: 3.7 times faster than 32-true, 36 % less memory (one run each). "
      "Accuracy: -1.22 pp, undecided (one seed).\n"
      "In your code: Trainer(precision=\"16-mixed\") or Fabric(precision=\"16-mixed\")\n");
}

TEST(TextPrinter, IsTheBlocksThenTheTable) {
  const ResultDocument document = published();
  EXPECT_EQ(render("text", document),
            render("report", document) + "\n" + render("table", document));
}

TEST(TablePrinter, EndsWithTheGate) {
  ResultDocument document = published();
  document.gate = json::parse(R"({"rules": ["time:5%"], "outcome": "failed", "verdicts": [
      {"mode": "32-true", "rule": "time:5%", "verdict": "failed", "why": "+9.0 %\u001b[31m"}]})");
  EXPECT_THAT(render("table", document),
              ::testing::EndsWith("\ngate: failed\n"
                                  "mode     rule     outcome  why\n"
                                  "32-true  time:5%  failed   +9.0 %?[31m\n"));
  EXPECT_THAT(render("markdown", document), HasSubstr("**gate: failed**"));
}

// A gate that is not what the tool writes.
TEST(TablePrinter, SurvivesAnyGate) {
  for (const char* gate : {"{}", R"({"verdicts": 1})", R"({"verdicts": [1, null, {}]})"}) {
    ResultDocument document = published();
    document.gate = json::parse(gate);
    for (const std::string& format : format_names()) EXPECT_NO_THROW(render(format, document));
  }
}

TEST(NonePrinter, PrintsNothing) { EXPECT_EQ(render("none", published()), ""); }

TEST(Render, NamesTheFormats) {
  try {
    render("asciidoc", published());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("text report table markdown csv json none"));
  }
}

TEST(JsonPrinter, PrintsTheDocument) {
  const ResultDocument document = published();
  EXPECT_EQ(json::parse(render("json", document)), to_json(document));
}

TEST(CsvPrinter, PrintsOneLinePerModeAndLeavesUnknownFieldsEmpty) {
  EXPECT_EQ(
      render("csv", document_of({mode_of("16-mixed", {run_of(42, 0, 5, 100, 0.75, 0.5)}),
                                 failed_mode("bf16-mixed", Status::oom, "=no, memory"),
                                 mode_of("32-true", {run_of(42, 0, 10, 200, 0.5, 0.5)})})),
      "mode,effective_mode,status,reason,support,runs,test_accuracy,test_accuracy_std,"
      "test_accuracy_difference,train_accuracy,time_s,time_std_s,step_ms,time_ratio,samples_per_s,"
      "peak_allocated_bytes,memory_ratio,energy_j,reference,marks,device,libtorch,protocol_hash\n"
      "16-mixed,16-mixed,ok,,,1,0.75,,0.25,0.5,5,,,0.5,,100,0.5,,32-true,,Tesla T4,2.11.0,0\n"
      "bf16-mixed,bf16-mixed,oom,\"'=no, memory\",,0,,,,,,,,,,,,,32-true,,Tesla T4,2.11.0,0\n"
      "32-true,32-true,ok,,,1,0.5,,,0.5,10,,,,,200,,,32-true,,Tesla T4,2.11.0,0\n");
}

TEST(MarkdownPrinter, PrintsATableToPaste) {
  const std::string text = render("markdown", published());
  EXPECT_THAT(text, HasSubstr("**Tesla T4 (7.5)**\n"));
  EXPECT_THAT(text,
              HasSubstr("| 16-mixed | 46.15 % | -1.22 pp ? | 38.87 % | 16m 28s | 3.74x faster "
                        "| 5603 | -36 % |  |\n"));
  EXPECT_THAT(text, HasSubstr("In your code: `Trainer(precision=\"16-mixed\")"));
}

// 1.96 * sqrt((0.831 * 0.169 + 0.8 * 0.2) / 1000) is 3.397 points, told rounded up.
TEST(Table, DoubtsADifferenceOnFewTestSamples) {
  ResultDocument document = document_of({mode_of("16-mixed", {run_of(42, 0, 10, 100, 0.831)}),
                                         mode_of("32-true", {run_of(42, 0, 10, 100, 0.8)})});
  document.protocol["test_samples"] = 1000;
  const std::string text = render("table", document);
  EXPECT_THAT(text, HasSubstr("+3.10 pp ?"));
  EXPECT_THAT(text, HasSubstr("? one seed, 1000 test samples: differences under 3.4 points say "
                              "nothing; use --seeds 42,43,44\n"));
  document.protocol["test_samples"] = 10000;
  EXPECT_THAT(render("table", document), Not(HasSubstr("+3.10 pp ?")));
}

TEST(Table, ShowsSpreadAndPairedDifferenceOfRepeatsAndSeeds) {
  const auto runs = [](double seconds, double accuracy) {
    return std::vector<RunRecord>{run_of(1, 0, seconds, 1 << 20, accuracy),
                                  run_of(2, 0, seconds + 0.2, 1 << 20, accuracy + 0.02),
                                  run_of(3, 0, seconds - 0.2, 1 << 20, accuracy - 0.01)};
  };
  auto fast = runs(10, 0.80);
  fast[0].test_accuracy = 0.81;  // one seed up, two unchanged: within seed noise
  const std::string text =
      render("table", document_of({mode_of("16-mixed", fast), mode_of("32-true", runs(20, 0.80))}));
  EXPECT_THAT(text, HasSubstr("10.00s ± 0.20s"));
  EXPECT_THAT(text, HasSubstr("2.00 ± 0.04x faster"));  // 2 * hypot(2 %, 1 %) = 0.0447
  EXPECT_THAT(text, HasSubstr("+0.33 pp ≈"));
  EXPECT_THAT(text, HasSubstr("Accuracy: +0.33 pp, within seed noise (n=3 seeds)."));
  EXPECT_THAT(text, Not(HasSubstr("one run each")));
}

TEST(Table, IsAsciiWhereAskedFor) {
  ResultDocument document = published();
  document.modes[0].runs.push_back(run_of(42, 1, 1000, 1, 0.47));
  document.modes[2].runs.push_back(run_of(42, 1, 3700, 1, 0.47));
  for (const char* format : {"text", "markdown", "table"}) {
    for (const char c : render(format, document, {.ascii = true})) EXPECT_GE(c, 0) << format;
  }
}

TEST(Table, NamesWhatHappenedToAModeWithoutFigures) {
  const std::string text = render(
      "table", document_of({mode_of("32-true", {run_of(42, 0, 10, 100, 0.5)}),
                            failed_mode("16-mixed", Status::oom, "tried 2.0 GiB"),
                            failed_mode("tf32", Status::unsupported, "native from Ampere (8.0)")}));
  EXPECT_THAT(text, HasSubstr("out of memory: tried 2.0 GiB"));
  EXPECT_THAT(text, HasSubstr("unsupported: native from Ampere (8.0)"));
}

TEST(Table, ExplainsWhereTotalsTellAnotherStoryThanSteps) {
  ResultDocument document = document_of({mode_of("16-mixed", {run_of(42, 0, 9, 1, 0.5)}),
                                         mode_of("32-true", {run_of(42, 0, 10, 1, 0.5)})});
  document.modes[0].runs[0].time.step_ms.median = 1;
  document.modes[1].runs[0].time.step_ms.median = 2;
  const std::string text = render("table", document);
  EXPECT_THAT(text, HasSubstr("2.00x faster"));
  EXPECT_THAT(text, HasSubstr("16-mixed: speed is of the median step; the whole run, with first "
                              "steps and evaluation, is 1.11x faster"));
}

TEST(Block, SaysWhatHappenedToAFailedRun) {
  RunRecord run;
  run.seed = 43;
  run.status = Status::oom;
  run.reason = "tried to allocate 2.00 GiB\n(GPU 0)";
  EXPECT_EQ(render_block("32-true", 43, run, true),
            "===== 32-true =====\n"
            "Seed set to 43\n"
            "Failed   : out of memory: tried to allocate 2.00 GiB (GPU 0)\n");
}

TEST(Block, OfAModeThatWasNotRun) {
  EXPECT_EQ(render_block(failed_mode("tf32", Status::unsupported, "native from Ampere (8.0)")),
            "===== tf32 =====\nUnsupported: native from Ampere (8.0)\n");
  EXPECT_EQ(render_block(failed_mode("bf16-mixed", Status::skipped, "projected 83 min")),
            "===== bf16-mixed =====\nSkipped  : projected 83 min\n");
}

TEST(Block, GivesTheReasonOfAnUnknownFigure) {
  RunRecord run = run_of(42, 0, 1, 1, 0.5);
  run.memory.peak_allocated_bytes.reset();
  run.memory.unknown["peak_allocated_bytes"] = "no counter here";
  EXPECT_THAT(render_block("32-true", 42, run, true),
              HasSubstr("Memory   : unknown (no counter here)\n"));
}

TEST(Blocks, OfRepeatsTellWhichIsWhich) {
  RunRecord drift = run_of(42, 0, 3, 1, 0.5);
  drift.role = Role::drift;
  const std::string text = render(
      "report", document_of({mode_of(
                    "32-true", {run_of(42, 0, 1, 1, 0.5), run_of(42, 1, 2, 1, 0.5), drift})}));
  EXPECT_THAT(text, HasSubstr("===== 32-true, repeat 1 =====\n"));
  EXPECT_THAT(text, HasSubstr("===== 32-true, repeat 2 =====\n"));
  EXPECT_THAT(text, HasSubstr("again at the end (drift)"));
}

// The order in which runs were made, not that of the modes.
TEST(Blocks, StandInTheOrderOfTheRuns) {
  ResultDocument document = document_of({mode_of("16-mixed", {run_of(1, 0, 1, 1, 0.5)}),
                                         mode_of("32-true", {run_of(1, 0, 1, 1, 0.5)})});
  document.modes[0].runs[0].order_index = 5;
  const std::string text = render("report", document);
  EXPECT_LT(text.find("32-true"), text.find("16-mixed"));
}

}  // namespace
}  // namespace precbench::report_text_test
