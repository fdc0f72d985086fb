// Texts of users into values: what is taken, what is refused, and in which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <locale>

#include "bench/plan/parse_value.h"
#include "common/errors.h"

namespace precbench::plan_parse_value_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(std::string_view option, const std::string& text) {
  try {
    parse_value(*find_option(option), text, "--" + std::string(option));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string config_refusal(std::string_view option, const json& value) {
  try {
    parse_config_value(*find_option(option), value, "mine.json: key");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ParseInteger, TakesWholeNumbersOnly) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<int64_t>::max());  // 2^63 - 1
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "1_000", "1,000", "12x", "x",
                           "9223372036854775808", "-", "nan"}) {
    EXPECT_FALSE(parse_integer(text)) << "'" << text << "'";
  }
}

TEST(ParseNumber, TakesFiniteDecimalNumbersOnly) {
  EXPECT_EQ(parse_number("0.05"), 0.05);
  EXPECT_EQ(parse_number("1e-8"), 1e-8);
  EXPECT_EQ(parse_number("-2.5E3"), -2500.0);
  for (const char* text : {"", "nan", "inf", "-inf", "infinity", "1e3x", "0x1p3", "1,5", "1e400",
                           " 1", "1 ", "1..2", "e5", "--1"}) {
    EXPECT_FALSE(parse_number(text)) << "'" << text << "'";
  }
}

// Streams that use the global locale would stop at the point of "0.05" here.
TEST(ParseNumber, DoesNotDependOnTheLocale) {
  struct DecimalComma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new DecimalComma));
  const auto number = parse_number("0.05");
  const auto duration = parse_duration("1.5h");
  std::locale::global(before);
  EXPECT_EQ(number, 0.05);
  EXPECT_EQ(duration, 5400.0);
}

TEST(ParseDuration, NeedsAUnitAndMoreThanNothing) {
  EXPECT_EQ(parse_duration("90s"), 90.0);
  EXPECT_EQ(parse_duration("5m"), 300.0);
  EXPECT_EQ(parse_duration("1h"), 3600.0);
  EXPECT_EQ(parse_duration("1.5h"), 5400.0);
  EXPECT_EQ(parse_duration("0.25s"), 0.25);
  for (const char* text :
       {"", "s", "90", "0s", "-5m", "5 m", "5M", "5min", "1h30m", "nans", "infh", "1e9h"}) {
    EXPECT_FALSE(parse_duration(text)) << "'" << text << "'";
  }
}

TEST(ParseSize, TakesBinaryUnitsAndBytes) {
  EXPECT_EQ(parse_size("4096"), 4096);
  EXPECT_EQ(parse_size("1KiB"), 1024);
  EXPECT_EQ(parse_size("500MiB"), 524288000);  // 500 x 2^20
  EXPECT_EQ(parse_size("2GiB"), 2147483648);
  EXPECT_EQ(parse_size("1.5GiB"), 1610612736);
  // MB may mean 10^6 or 2^20; guessing would be wrong for half of the users.
  for (const char* text : {"", "MiB", "0", "0GiB", "-1GiB", "2GB", "2 GiB", "2G", "2gib", "1e30",
                           "9999999TiB", "0.5"}) {
    EXPECT_FALSE(parse_size(text)) << "'" << text << "'";
  }
}

TEST(SplitList, DropsSpacesAndKeepsEmptyParts) {
  EXPECT_THAT(split_list("a,b , c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_list(",a,"), ElementsAre("", "a", ""));
  EXPECT_THAT(split_list(""), ElementsAre(""));
}

TEST(ParseValue, KeepsARangesEndsAndRefusesWhatIsBeyond) {
  const OptionSpec& seed = *find_option("seed");
  EXPECT_EQ(parse_value(seed, "0", "--seed"), 0);
  EXPECT_EQ(parse_value(seed, "4294967295", "--seed"), 4294967295LL);  // 2^32 - 1, as Lightning's
  EXPECT_EQ(refusal("seed", "-1"), "--seed: '-1' is not a whole number from 0 to 4294967295");
  EXPECT_THAT(refusal("seed", "4294967296"), HasSubstr("from 0 to 4294967295"));
  EXPECT_THAT(refusal("batch-size", "0"), HasSubstr("--batch-size: '0' is not a whole number"));
  EXPECT_THAT(refusal("momentum", "1.5"), HasSubstr("is not a number from 0 to 1"));
}

TEST(ParseValue, OneBadPartOfAListRefusesTheList) {
  EXPECT_EQ(parse_value(*find_option("seeds"), "1, 2,3", "--seeds"), json({1, 2, 3}));
  EXPECT_THAT(refusal("seeds", "1,-2"), HasSubstr("'-2'"));
  for (const char* text : {"", ",", "1,,2", "1,2,"}) {
    EXPECT_THAT(refusal("seeds", text), HasSubstr("empty part between its commas")) << text;
  }
}

TEST(ParseValue, AnUnknownChoiceIsAnsweredWithTheNearestAndTheList) {
  EXPECT_EQ(refusal("optimizer", "adamv"),
            "--optimizer: unknown value 'adamv'; did you mean 'adam'?\n       allowed: sgd adam "
            "adamw");
  EXPECT_THAT(refusal("optimizer", "lion-and-more"), Not(HasSubstr("did you mean")));
  EXPECT_THAT(refusal("format", "JSON"), HasSubstr("allowed: text"));  // case counts
}

TEST(ParseValue, DurationsAndSizesBecomeNumbers) {
  EXPECT_EQ(parse_value(*find_option("timeout"), "1.5h", "--timeout"), 5400.0);
  EXPECT_EQ(parse_value(*find_option("memory-limit"), "1GiB", "--memory-limit"), 1073741824);
  EXPECT_THAT(refusal("timeout", "90"), HasSubstr("like 90s, 5m or 1.5h"));
  EXPECT_THAT(refusal("memory-limit", "1GB"), HasSubstr("like 500MiB or 2GiB"));
}

TEST(ParseConfigValue, HasTheTypesOfJson) {
  EXPECT_EQ(parse_config_value(*find_option("lr"), 0.1, ""), 0.1);
  EXPECT_EQ(parse_config_value(*find_option("lr"), 1, ""), 1.0);
  EXPECT_EQ(parse_config_value(*find_option("seed"), 7, ""), 7);
  EXPECT_EQ(parse_config_value(*find_option("nesterov"), true, ""), true);
  EXPECT_EQ(parse_config_value(*find_option("seeds"), json({1, 2}), ""), json({1, 2}));
  EXPECT_EQ(parse_config_value(*find_option("modes"), json({"32-true", "16"}), ""),
            json({"32-true", "16"}));
  EXPECT_EQ(parse_config_value(*find_option("modes"), "32-true,16", ""), json({"32-true", "16"}));
  EXPECT_EQ(parse_config_value(*find_option("timeout"), "5m", ""), 300.0);

  EXPECT_EQ(config_refusal("seed", "7"), "mine.json: key: must be a whole number, not string");
  EXPECT_THAT(config_refusal("seed", 7.0), HasSubstr("must be a whole number"));
  EXPECT_THAT(config_refusal("seed", -7), HasSubstr("from 0 to 4294967295"));
  EXPECT_THAT(config_refusal("lr", "0.1"), HasSubstr("must be a number"));
  EXPECT_THAT(config_refusal("nesterov", 1), HasSubstr("true or false"));
  EXPECT_THAT(config_refusal("timeout", 300), HasSubstr("must be a text"));
  EXPECT_THAT(config_refusal("model", nullptr), HasSubstr("must be a text, not null"));
  EXPECT_THAT(config_refusal("modes", json({json::object()})), HasSubstr("array of texts"));
  EXPECT_THAT(config_refusal("context", "a=b"), HasSubstr("array of texts"));
  EXPECT_THAT(config_refusal("modes", json::array()), HasSubstr("empty part"));
  EXPECT_THAT(config_refusal("modes", json({"32-true,16-mixed", "64-true"})),
              HasSubstr("array of texts"));
}

}  // namespace
}  // namespace precbench::plan_parse_value_test
