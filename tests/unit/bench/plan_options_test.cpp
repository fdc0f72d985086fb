// The table itself: what must hold of every row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/plan/options.h"
#include "bench/report/export.h"
#include "bench/report/formats.h"

namespace precbench::plan_options_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(OptionTable, ShowsAtMost15OptionsInTheShortHelp) {
  const auto& table = option_table();
  EXPECT_LE(std::count_if(table.begin(), table.end(),
                          [](const OptionSpec& option) { return option.is_basic; }),
            15);
}

TEST(OptionTable, SpellsKeysAndVariables) {
  const OptionSpec& option = *find_option("schedule-on-skip");
  EXPECT_EQ(config_key(option), "schedule_on_skip");
  EXPECT_EQ(environment_variable(option), "PRECBENCH_SCHEDULE_ON_SKIP");
  EXPECT_EQ(find_option("no-such-option"), nullptr);
}

TEST(OptionTable, HasAnExportFlagForEveryFormatThatIsWritten) {
  for (const std::string& format : export_names()) {
    EXPECT_NE(find_option("export-" + std::string(format)), nullptr) << format;
  }
}

TEST(MisspeltVariables, AreToldWithTheNearestName) {
  EXPECT_THAT(misspelt_variables({"PRECBENCH_BATCHSIZE"}),
              ElementsAre(HasSubstr("did you mean PRECBENCH_BATCH_SIZE?")));
  EXPECT_THAT(misspelt_variables({"PRECBENCH_LIBTORCHS"}),
              ElementsAre(HasSubstr("did you mean PRECBENCH_LIBTORCH?")));
}

TEST(MisspeltVariables, LeaveOthersVariablesAlone) {
  EXPECT_THAT(misspelt_variables({"PRECBENCH_BATCH_SIZE", "PRECBENCH_WORKER", "PRECBENCH_LIBTORCH",
                                  "BATCHSIZE", "PRECBENCH_", "PRECBENCH_QXZWVJ"}),
              IsEmpty());
}

}  // namespace
}  // namespace precbench::plan_options_test
