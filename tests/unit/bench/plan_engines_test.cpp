// Engines: which rows a plan has, what each engine is asked, and how rows of two files pair.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "../temporary.h"
#include "bench/judge/gate.h"
#include "bench/judge/recommend.h"
#include "bench/plan/resolve_device.h"
#include "bench/plan/schedule.h"
#include "documents.h"
#include "plan_resolving.h"

namespace precbench::plan_engines_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::planned;

std::vector<std::string> row_names(const GivenFlags& flags) {
  std::vector<std::string> names;
  for (const PlannedRow& row : rows_of(planned(flags))) names.push_back(row.name());
  return names;
}

std::string refusal(const GivenFlags& flags) {
  return error_of([&] { planned(flags); });
}

TEST(Engines, ARowIsAModeInAnEngine) {
  const GivenFlags modes = {{"modes", {"bf16-mixed,32-true"}}};
  EXPECT_THAT(row_names(modes), ElementsAre("bf16-mixed", "32-true"));
  GivenFlags both = modes;
  both["engine"] = {"libtorch,fabric"};
  EXPECT_THAT(row_names(both),
              ElementsAre("bf16-mixed", "bf16-mixed/fabric", "32-true", "32-true/fabric"));
  EXPECT_EQ(reference_row(planned(both)).name(), "32-true");
  both["reference"] = {"bf16-mixed/fabric"};
  EXPECT_EQ(reference_row(planned(both)).name(), "bf16-mixed/fabric");
  both["engine"] = {"fabric,libtorch"};
  both.erase("reference");
  EXPECT_EQ(reference_row(planned(both)).name(), "32-true/fabric");
}

TEST(Engines, NamesComeApartAgain) {
  for (const ModeTraits& mode : kModes) {
    for (const std::string_view engine : kEngines) {
      const std::string row = row_name(mode.name, engine);
      EXPECT_EQ(mode_of_row(row), mode.name);
      EXPECT_EQ(engine_of_row(row), engine);
    }
  }
}

TEST(Engines, PythonIsTheFabricEngines) {
  const Plan plan =
      planned({{"model", {"dir/model.py:net"}}, {"model-options", {"a=1,b=0.5,c=x,d=true"}}});
  EXPECT_THAT(plan.engines, ElementsAre("fabric"));
  EXPECT_EQ(plan.job.model, "python");
  EXPECT_EQ(plan.job.model_file, "dir/model.py:net");
  EXPECT_EQ(plan.job.model_options, json::parse(R"({"a": 1, "b": 0.5, "c": "x", "d": true})"));
  EXPECT_EQ(planned({{"model", {"timm:resnet50d"}}}).job.model_file, "timm:resnet50d");
  const Plan data = planned({{"model", {"m.py:net"}}, {"dataset", {"m.py:data"}}});
  EXPECT_EQ(data.job.dataset.name, "python");
  EXPECT_EQ(data.job.dataset.dir, "m.py:data");
}

TEST(Engines, WhatDoesNotGoTogetherIsTold) {
  EXPECT_THAT(refusal({{"engine", {"jax"}}}), HasSubstr("engines: libtorch fabric"));
  EXPECT_THAT(refusal({{"engine", {"fabric,fabric"}}}), HasSubstr("named twice"));
  EXPECT_THAT(refusal({{"model", {"m.py"}}}), HasSubstr("m.py:NAME"));
  EXPECT_THAT(refusal({{"model", {"m.py:net"}}, {"engine", {"libtorch,fabric"}}}),
              HasSubstr("needs --engine fabric alone"));
  EXPECT_THAT(refusal({{"dataset", {"m.py:data"}}, {"engine", {"fabric"}}}),
              HasSubstr("needs a model of your own"));
  EXPECT_THAT(refusal({{"compile", {"true"}}}), HasSubstr("needs --engine fabric"));
  EXPECT_THAT(refusal({{"engine", {"fabric"}}, {"cuda-graph", {"true"}}}),
              HasSubstr("fabric has no --cuda-graph"));
  EXPECT_THAT(refusal({{"engine", {"fabric"}}, {"find-max-batch", {"true"}}}),
              HasSubstr("fabric has no --find-max-batch"));
  EXPECT_THAT(refusal({{"reference", {"32-true/fabric"}}}), HasSubstr("is not among --engine"));
}

TEST(Engines, EachIsAskedForWhatItHas) {
  Plan plan =
      planned({{"engine", {"libtorch,fabric"}}, {"profile", {"tuned"}}, {"compile", {"true"}}});
  resolve_for_device(plan, /*is_cuda=*/false, [] { return GemmRates{0.2, 0.5}; });
  const TrainJob ours = job_for(plan, {plan.reference, "libtorch"}, 1, false);
  const TrainJob theirs = job_for(plan, {plan.reference, "fabric"}, 1, false);
  EXPECT_EQ(ours.engine, "libtorch");
  EXPECT_EQ(ours.gemm, "onednn");
  EXPECT_TRUE(ours.tuned_malloc);
  EXPECT_FALSE(ours.compile);
  EXPECT_EQ(theirs.engine, "fabric");
  EXPECT_EQ(theirs.gemm, "default");
  EXPECT_FALSE(theirs.tuned_malloc);
  EXPECT_TRUE(theirs.compile);
  EXPECT_EQ(theirs.optimizer.impl, ours.optimizer.impl);
}

// 32-true in both engines, and bf16-mixed in Python alone, twice as fast as both.
ResultDocument in_two_engines() {
  using testing::mode_of;
  using testing::run_of;
  return testing::document_of({mode_of("32-true", {run_of(1, 0, 20.0, 1000, 0.5)}),
                               mode_of("32-true/fabric", {run_of(1, 0, 20.0, 1000, 0.5)}),
                               mode_of("bf16-mixed/fabric", {run_of(1, 0, 10.0, 500, 0.5)})});
}

TEST(Engines, StandInTheFile) {
  const std::string path = temporary_path("engines.json");
  save_result(in_two_engines(), path);
  json stored = json::parse(std::ifstream(path));
  EXPECT_EQ(stored["modes"][1]["mode"], "32-true");
  EXPECT_EQ(stored["modes"][1]["engine"], "fabric");
  EXPECT_EQ(load_result(path).modes[2].mode, "bf16-mixed/fabric");
  stored["modes"][1]["engine"] = "jax";
  std::ofstream(path) << stored;
  EXPECT_THAT(error_of([&] { load_result(path); }), HasSubstr("'jax' is not libtorch or fabric"));
  std::remove(path.c_str());
}

TEST(Engines, RulesNameThem) {
  EXPECT_EQ(parse_gate_rule("time[bf16/fabric]:5%").mode, "bf16-mixed/fabric");
  EXPECT_THAT(error_of([] { parse_gate_rule("time[bf16-mixed/jax]:5%"); }),
              HasSubstr("unknown mode"));
}

TEST(Engines, AModeIsRecommendedWithinOne) {
  ResultDocument document = in_two_engines();
  document.reference = "32-true";
  EXPECT_THAT(recommend(document).sentences,
              Contains("Only 32-true was run: there is nothing to compare."));
  document.reference = "32-true/fabric";
  const Recommendation advice = recommend(document);
  EXPECT_EQ(advice.mode, "bf16-mixed/fabric");
  EXPECT_THAT(advice.code, HasSubstr("Fabric(precision=\"bf16-mixed\")"));
}

TEST(Engines, WhatPythonAddsIsToldModeByMode) {
  ResultDocument document = in_two_engines();
  document.environment = {{"device", {{"kind", "cpu"}, {"name", "a CPU"}}}};
  document.modes[0].runs[0].time.step_ms.median = 10.0;
  document.modes[1].runs[0].time.step_ms.median = 12.0;
  EXPECT_THAT(
      recommend(document).sentences,
      Contains(
          "A step in Python is, beside libtorch's: 32-true 1.20 times slower (one run each)."));
  // One run each has the spread of its own steps: here Python's second half takes longer.
  for (int i = 0; i <= 60; ++i) {
    document.modes[0].runs[0].time.step_ms.samples.push_back(i == 0 ? 500.0 : 10.0);
    document.modes[1].runs[0].time.step_ms.samples.push_back(i <= 30 ? 11.5 : 12.5);
  }
  EXPECT_THAT(recommend(document).sentences,
              Contains(HasSubstr("32-true 1.20 times slower (one run each; tenths of them 1.15 to "
                                 "1.25).")));
  document.modes[1].marks.push_back({"busy", "others used the machine"});
  EXPECT_THAT(recommend(document).sentences, Not(Contains(HasSubstr("A step in Python"))));
}

}  // namespace
}  // namespace precbench::plan_engines_test
