// Options that depend on each other across sources, and configurations that are broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "../places.h"
#include "bench/plan/resolver.h"
#include "common/errors.h"
#include "plan_resolving.h"

namespace precbench::plan_precedence_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::resolved;
using ::testing::SizeIs;

class Precedence : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string config(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  std::string path_ =
      ::testing::TempDir() + "precbench-precedence-" + std::to_string(getpid()) + ".json";
};

TEST_F(Precedence, LetsAFlagSayFalse) {
  const auto options =
      resolved({{"config", {config(R"({"nesterov": true})")}}, {"nesterov", {"false"}}});
  EXPECT_FALSE(options.flag("nesterov"));
}

TEST_F(Precedence, RefusesAFlagGivenTwiceUnlessItRepeats) {
  EXPECT_THAT(error_of([] { resolved({{"seed", {"1", "2"}}}); }), HasSubstr("given 2 times"));
  EXPECT_EQ(resolved({{"context", {"a=1", "b=2"}}}).texts("context"),
            (std::vector<std::string>{"a=1", "b=2"}));
}

TEST_F(Precedence, SettlesSeedAgainstSeedsByStrength) {
  const std::string seeds = config(R"({"seeds": [1, 2]})");
  EXPECT_FALSE(resolved({{"config", {seeds}}}, {{"PRECBENCH_SEED", "9"}}).has("seeds"));
  EXPECT_FALSE(resolved({{"config", {seeds}}, {"seed", {"9"}}}).has("seeds"));
  const auto options = resolved({{"config", {config(R"({"seed": 9})")}}, {"seeds", {"1,2"}}});
  EXPECT_THAT(options.integers("seeds"), ElementsAre(1, 2));
  EXPECT_EQ(options.as_json()["seed"], json({{"value", 42}, {"source", "default"}}));
  EXPECT_THAT(error_of([] {
                resolved({{"seed", {"1"}}, {"seeds", {"2"}}});
              }),
              HasSubstr("--seed and --seeds cannot both be given"));
  EXPECT_THAT(error_of([] {
                resolved({{"clip-norm", {"1"}}, {"clip-value", {"2"}}});
              }),
              HasSubstr("--clip-norm and --clip-value"));
}

TEST_F(Precedence, DropsSettingsOfAnotherOptimizer) {
  const std::string sgd = config(R"({"optimizer": "sgd", "lr": 0.05, "momentum": 0.9})");
  const auto options = resolved({{"config", {sgd}}, {"optimizer", {"adamw"}}});
  EXPECT_FALSE(options.has("lr"));
  EXPECT_FALSE(options.has("momentum"));
  EXPECT_THAT(options.notes(), SizeIs(2));
  EXPECT_THAT(options.notes()[0],
              AllOf(HasSubstr(sgd + ": lr"), HasSubstr("sgd"), HasSubstr("adamw")));
}

TEST_F(Precedence, LooksAtTheOptimizerOfASettingsOwnSource) {
  const std::string sgd = config(R"({"optimizer": "sgd", "lr": 0.05})");
  // The variable names another optimizer than the configuration did, so its lr does not apply.
  EXPECT_FALSE(resolved({{"config", {sgd}}}, {{"PRECBENCH_OPTIMIZER", "adam"}}).has("lr"));
  // The variable's lr stands beside the variable's optimizer, whatever the configuration says.
  const auto own =
      resolved({{"config", {sgd}}}, {{"PRECBENCH_OPTIMIZER", "adam"}, {"PRECBENCH_LR", "0.02"}});
  EXPECT_EQ(own.number("lr"), 0.02);
}

TEST_F(Precedence, KeepsSettingsThatAreMeantForTheOptimizer) {
  const std::string sgd = config(R"({"optimizer": "sgd", "lr": 0.05, "momentum": 0.9})");
  // The same optimizer again, and a learning rate beside the new one.
  EXPECT_EQ(resolved({{"config", {sgd}}, {"optimizer", {"sgd"}}}).number("lr"), 0.05);
  const auto own = resolved({{"config", {sgd}}, {"optimizer", {"adamw"}}, {"lr", {"0.01"}}});
  EXPECT_EQ(own.number("lr"), 0.01);
  // A learning rate for whatever optimizer there is.
  const auto bare = resolved({{"optimizer", {"adamw"}}}, {{"PRECBENCH_LR", "0.02"}});
  EXPECT_EQ(bare.number("lr"), 0.02);
  EXPECT_THAT(bare.notes(), IsEmpty());
}

TEST_F(Precedence, ReadsTheReadyMadeConfigurations) {
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() + "/configs")) {
    EXPECT_NO_THROW(testing::planned({{"config", {entry.path().string()}}})) << entry.path();
  }
}

TEST_F(Precedence, RefusesBrokenConfigurationsInOneLine) {
  for (const char* text :
       {"", "modes: all", "[]", "{\"seed\": 1", R"({"seed": NaN})", R"({"seed": 1e999})",
        "{\"model\": \"\xff\"}", R"({"config": "quick"})", R"({"inject_inf_at_step": 3})",
        R"({"batch-size": 3})", R"({"seed": 1, "seed": 1})", R"({"about": 3})"}) {
    const std::string path = config(text);
    const std::string message = error_of([&] { resolved({{"config", {path}}}); });
    EXPECT_THAT(message, HasSubstr(path)) << text;
    EXPECT_THAT(message, ::testing::Not(HasSubstr("internal"))) << text;
  }
}

TEST_F(Precedence, SurvivesAHugeAndADeepConfiguration) {
  EXPECT_THROW(resolved({{"config", {config(std::string(2 << 20, ' '))}}}), UsageError);
  EXPECT_THROW(resolved({{"config", {config(std::string(900000, '['))}}}), UsageError);
  EXPECT_THROW(resolved({{"config", {::testing::TempDir()}}}), UsageError);
}

}  // namespace
}  // namespace precbench::plan_precedence_test
