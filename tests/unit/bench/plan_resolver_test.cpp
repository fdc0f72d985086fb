// Flag > environment > configuration file > default, and what a plan is made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../temporary.h"
#include "bench/plan/make_plan.h"
#include "bench/plan/resolver.h"
#include "common/errors.h"

namespace precbench::plan_resolver_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Variables = std::map<std::string, std::string>;

ResolvedOptions resolved(const GivenFlags& flags, const Variables& variables = {}) {
  return resolve(flags, [&](const char* name) -> const char* {
    const auto variable = variables.find(name);
    return variable == variables.end() ? nullptr : variable->second.c_str();
  });
}

Plan plan_of(const GivenFlags& flags, const Variables& variables = {}) {
  return make_plan(resolved(flags, variables), {"precbench"});
}

std::string refusal(const GivenFlags& flags, const Variables& variables = {}) {
  try {
    plan_of(flags, variables);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> mode_names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const ModeTraits* mode : plan.modes) names.emplace_back(mode->name);
  return names;
}

class WithConfig : public ::testing::Test {
 protected:
  void SetUp() override { path_ = temporary_path("plan.json"); }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string config(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }

 private:
  std::string path_;
};

json entry(const json& value, const char* source) { return {{"value", value}, {"source", source}}; }

TEST_F(WithConfig, EachSourceBeatsTheWeakerOnes) {
  const std::string path =
      config(R"({"about": "a test", "epochs": 2, "steps": 2, "batch_size": 2})");
  const json config = resolved({{"config", {path}}, {"epochs", {"4"}}},
                               {{"PRECBENCH_EPOCHS", "3"}, {"PRECBENCH_STEPS", "3"}})
                          .as_json();
  EXPECT_EQ(config["epochs"], entry(4, "flag"));
  EXPECT_EQ(config["steps"], entry(3, "environment"));
  EXPECT_EQ(config["batch_size"], entry(2, "config"));
  EXPECT_EQ(config["limit_train"], entry(0, "default"));
  EXPECT_EQ(config["config"], entry(path, "flag"));
}

TEST_F(WithConfig, AVariableCanNameTheConfiguration) {
  const std::string path = config(R"({"epochs": 2})");
  EXPECT_EQ(resolved({}, {{"PRECBENCH_CONFIG", path}}).integer("epochs"), 2);
}

TEST_F(WithConfig, AFlagsSeedReplacesTheConfigurationsSeeds) {
  const std::string path = config(R"({"seeds": [1, 2, 3]})");
  EXPECT_THAT(plan_of({{"config", {path}}}).seeds, ElementsAre(1, 2, 3));
  EXPECT_THAT(plan_of({{"config", {path}}, {"seed", {"7"}}}).seeds, ElementsAre(7));
}

TEST_F(WithConfig, ErrorsNameFileAndKey) {
  const std::string path = config(R"({"batch_size": 0})");
  EXPECT_THAT(refusal({{"config", {path}}}), HasSubstr(path + ": batch_size: '0'"));
}

TEST_F(WithConfig, NeitherConfigNorTestHooksAreKeys) {
  EXPECT_THAT(refusal({{"config", {config(R"({"config": "quick"})")}}}),
              HasSubstr("unknown key 'config'"));
  EXPECT_THAT(refusal({{"config", {config(R"({"inject_inf_at_step": 3})")}}}),
              HasSubstr("unknown key 'inject_inf_at_step'"));
}

TEST(Resolver, AnEmptyVariableIsNone) {
  EXPECT_EQ(resolved({}, {{"PRECBENCH_EPOCHS", ""}}).integer("epochs"), 1);
}

TEST(Resolver, ErrorsNameTheVariable) {
  EXPECT_THAT(refusal({}, {{"PRECBENCH_BATCH_SIZE", "1e3"}}),
              HasSubstr("PRECBENCH_BATCH_SIZE: '1e3'"));
}

TEST(Resolver, TestHooksStayOutOfTheResultUnlessUsed) {
  EXPECT_FALSE(resolved({}).as_json().contains("inject_inf_at_step"));
  EXPECT_TRUE(resolved({{"inject-inf-at-step", {"3"}}}).as_json().contains("inject_inf_at_step"));
}

TEST(OptionTable, NamesAreUniqueAndDefaultsValid) {
  std::set<std::string> names;
  for (const OptionSpec& option : option_table()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_EQ(config_key(option).find('-'), std::string::npos) << option.name;
    // Reserved: they choose the worker and its LibTorch.
    EXPECT_NE(environment_variable(option), "PRECBENCH_LIBTORCH");
    EXPECT_NE(environment_variable(option), "PRECBENCH_WORKER");
  }
  EXPECT_NO_THROW(resolved({}));  // parses every default
  EXPECT_EQ(environment_variable(*find_option("batch-size")), "PRECBENCH_BATCH_SIZE");
  EXPECT_EQ(config_key(*find_option("batch-size")), "batch_size");
}

TEST(MakePlan, TheDefaultIsTheContracts) {
  const Plan plan = plan_of({});
  EXPECT_THAT(mode_names_of(plan), ElementsAre("16-mixed", "bf16-mixed", "32-true"));
  EXPECT_EQ(plan.reference->name, "32-true");
  EXPECT_THAT(plan.seeds, ElementsAre(42));
  EXPECT_EQ(plan.job.model, "cnn");
  EXPECT_EQ(plan.job.dataset.name, "fashion-mnist");
  EXPECT_EQ(plan.job.batch_size, 128);
  EXPECT_EQ(plan.job.epochs, 1);
  EXPECT_EQ(plan.job.optimizer.name, "sgd");
  EXPECT_EQ(plan.job.optimizer.lr, 0.05);
  EXPECT_EQ(plan.job.optimizer.momentum, 0.9);
  EXPECT_EQ(plan.profile, "fabric");
  EXPECT_EQ(plan.pilot_steps, 3);
  EXPECT_EQ(plan.order, Order::given);
  EXPECT_GE(plan.threads, 1);
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(MakePlan, OptimizersBringTheirOwnDefaults) {
  const OptimizerJob adamw = plan_of({{"optimizer", {"adamw"}}}).job.optimizer;
  EXPECT_EQ(adamw.lr, 1e-3);  // torch.optim.AdamW's
  EXPECT_EQ(adamw.weight_decay, 0.01);
  const OptimizerJob adam = plan_of({{"optimizer", {"adam"}}, {"lr", {"0.1"}}}).job.optimizer;
  EXPECT_EQ(adam.lr, 0.1);
  EXPECT_EQ(adam.weight_decay, 0.0);
}

TEST(MakePlan, AllNamesEveryModeOnceAndAliasesTheirModes) {
  const std::vector<std::string> all = mode_names_of(plan_of({{"modes", {"all"}}}));
  for (const char* name :
       {"32-true", "16-mixed", "bf16-mixed", "16-true", "bf16-true", "64-true", "tf32"})
    EXPECT_EQ(std::count(all.begin(), all.end(), name), 1) << name;
  EXPECT_THAT(mode_names_of(plan_of({{"modes", {"64,32"}}})), ElementsAre("64-true", "32-true"));
  EXPECT_TRUE(plan_of({{"modes", {"native"}}}).native_modes_only);
}

// Fabric's sentence (fabric/connector.py) for "16" and "bf16"; "32" and "64" pass in silence.
TEST(MakePlan, DiscouragedAliasesWarnAsFabricDoes) {
  EXPECT_THAT(plan_of({{"modes", {"16,32,64"}}}).warnings,
              ElementsAre("`precision=16` is supported for historical reasons but its usage is "
                          "discouraged. Please set your precision to 16-mixed instead!"));
}

TEST(MakePlan, AModeNamedTwiceRunsOnce) {
  const Plan plan = plan_of({{"modes", {"32-true,16-mixed,32"}}});
  EXPECT_THAT(mode_names_of(plan), ElementsAre("32-true", "16-mixed"));
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_THAT(plan.warnings[0], HasSubstr("32-true is named twice"));
}

TEST(MakePlan, TheReferenceIsAskedForElse32TrueElseTheFirst) {
  EXPECT_EQ(plan_of({{"modes", {"16-true,64-true"}}}).reference->name, "16-true");
  EXPECT_EQ(plan_of({{"modes", {"16-true,32-true"}}}).reference->name, "32-true");
  EXPECT_EQ(plan_of({{"modes", {"16-true,32-true"}}, {"reference", {"16-true"}}}).reference->name,
            "16-true");
  EXPECT_THAT(refusal({{"modes", {"16-true"}}, {"reference", {"32-true"}}}),
              HasSubstr("--reference: mode 32-true is not among --modes"));
}

TEST(MakePlan, OrderRotatesOnceRunsRepeat) {
  EXPECT_EQ(plan_of({{"repeats", {"2"}}}).order, Order::rotate);
  EXPECT_EQ(plan_of({{"seeds", {"1,2"}}}).order, Order::rotate);
  EXPECT_EQ(plan_of({{"seeds", {"1,2"}}, {"order", {"given"}}}).order, Order::given);
  EXPECT_EQ(plan_of({{"order", {"random"}}}).order, Order::random);
}

TEST(MakePlan, RefusesWhatContradictsItself) {
  EXPECT_THAT(refusal({{"seeds", {"1,2,1"}}}), HasSubstr("seed 1 is named twice"));
  EXPECT_THAT(refusal({{"optimizer", {"adam"}}, {"nesterov", {"true"}}}), HasSubstr("--nesterov"));
  EXPECT_THAT(refusal({{"context", {"no-equals"}}}), HasSubstr("is not key=value"));
  EXPECT_THAT(refusal({{"device", {"gpu"}}}), HasSubstr("unknown device 'gpu'"));
  EXPECT_THAT(refusal({{"device", {"cuda:-1"}}}), HasSubstr("unknown device"));
  EXPECT_THAT(refusal({{"dump-trace", {"t"}}}), HasSubstr("--dump-trace writes one file"));
  EXPECT_EQ(plan_of({{"dump-trace", {"t/"}}}).job.dump_trace, "t/");
  EXPECT_THAT(refusal({{"eps", {"1e-4"}}}), HasSubstr("--eps belongs to adam and adamw"));
  EXPECT_THAT(refusal({{"optimizer", {"adam"}}, {"beta2", {"1"}}}), HasSubstr("--beta2"));
  EXPECT_EQ(plan_of({{"optimizer", {"adam"}}, {"beta1", {"0.8"}}}).job.optimizer.beta1, 0.8);
  EXPECT_THAT(refusal({{"synthetic-shape", {"1,28"}}}), HasSubstr("channels,height,width"));
}

TEST(MakePlan, ContextAndExportsAreTakenAsGiven) {
  const Plan plan = plan_of({{"context", {"rack=7", "note=a=b"}}, {"export-csv", {"out.csv"}}});
  EXPECT_EQ(plan.context.at("rack"), "7");
  EXPECT_EQ(plan.context.at("note"), "a=b");
  ASSERT_EQ(plan.output.exports.size(), 1U);
  EXPECT_EQ(plan.output.exports[0].format, "csv");
  EXPECT_EQ(plan.output.exports[0].path, "out.csv");
}

}  // namespace
}  // namespace precbench::plan_resolver_test
