// A result file from anywhere gives a document or one clear line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../places.h"
#include "../temporary.h"
#include "bench/report/formats.h"
#include "bench/result/document.h"
#include "common/errors.h"

namespace precbench::result_load_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string hostile(const std::string& file) {
  return source_dir() + "/tests/cases/hostile/" + file;
}

std::string error_of(const std::string& path) {
  try {
    load_result(path);
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

std::string written(const std::string& name, const std::string& text) {
  const std::string path = temporary_path(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string with_version(const std::string& version) {
  return written("version.json", R"({"schema_version": ")" + version +
                                     R"(", "tool": {}, "invocation": {}, "protocol": {}, )"
                                     R"("environment": {}, "modes": [], "gate": null, "new": 1})");
}

struct Case {
  const char* file;
  const char* says;
};

class RefusedFile : public ::testing::TestWithParam<Case> {};

TEST_P(RefusedFile, SaysWhyInOneLine) {
  const std::string error = error_of(hostile(GetParam().file));
  EXPECT_THAT(error, HasSubstr(GetParam().file));
  EXPECT_THAT(error, HasSubstr(GetParam().says));
  EXPECT_THAT(error, Not(HasSubstr("\n")));
}

INSTANTIATE_TEST_SUITE_P(
    Hostile, RefusedFile,
    ::testing::Values(
        Case{"duplicate-keys.json", "the key 'schema_version' twice"},
        Case{"empty.json", "is empty"}, Case{"huge-number.json", "beyond the range"},
        Case{"invalid-utf8.json", "is not JSON at line 1, column"},
        Case{"modes-null.json", "modes must be an array, not null"},
        Case{"modes-object.json", "modes must be an array, not object"},
        Case{"nan-literal.json", "is not JSON at line 1, column"},
        Case{"not-json.json", "is not JSON at line 1, column 1"},
        Case{"out-of-range.json", "modes[0].runs[0].seed must not be negative"},
        Case{"truncated.json", "not complete JSON"}, Case{"utf16.json", "UTF-16"},
        Case{"version-later-major.json", "schema version 2.0.0, this precbench reads 1.x"},
        Case{"version-missing.json", "schema_version is missing"},
        Case{"version-number.json", "schema_version must be a text"},
        Case{"wrong-types.json", "modes[0].runs[0].seed must be a whole number, not string"}),
    [](const auto& info) {
      std::string name = info.param.file;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

class HarmlessFile : public ::testing::TestWithParam<const char*> {};

// Control characters would let a file speak to the terminal.
TEST_P(HarmlessFile, LoadsAndIsPrintedAsPlainText) {
  const ResultDocument document = load_result(hostile(GetParam()));
  for (const std::string& format : format_names()) {
    for (const char c : render(format, document)) {
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << format << ": " << int{c};
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Hostile, HarmlessFile,
                         ::testing::Values("ansi-escapes.json", "bom.json", "csv-formula.json",
                                           "markdown-breaker.json", "script-strings.json"));

TEST(LoadResult, RefusesDeepArrays) {
  const std::string path = written("deep-array.json", std::string(100000, '['));
  EXPECT_THAT(error_of(path), HasSubstr("nested more than 32 levels"));
}

TEST(LoadResult, RefusesDeepObjects) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += R"({"a":)";
  EXPECT_THAT(error_of(written("deep-object.json", text + "1")), HasSubstr("nested more than 32"));
}

// A sparse file: nothing is read, nothing is written.
TEST(LoadResult, RefusesAFileBeyondAnyResult) {
  const std::string path = written("huge.json", "{");
  std::filesystem::resize_file(path, uintmax_t{257} << 20);
  EXPECT_THAT(error_of(path), HasSubstr("over 256 MiB"));
  std::filesystem::remove(path);
}

TEST(LoadResult, NamesAMissingFile) {
  EXPECT_THAT(error_of("/nowhere/result.json"), HasSubstr("/nowhere/result.json"));
}

TEST(LoadResult, RefusesAFolder) {
  EXPECT_THAT(error_of(::testing::TempDir()), HasSubstr("cannot be read"));
}

TEST(LoadResult, TakesALaterMinorVersionWithMembersItDoesNotKnow) {
  EXPECT_EQ(load_result(with_version("1.7.0")).schema_version, "1.7.0");
}

TEST(LoadResult, RefusesOtherMajorVersionsAndWhatIsNone) {
  EXPECT_THAT(error_of(with_version("2.0.0")), HasSubstr("use a newer precbench"));
  EXPECT_THAT(error_of(with_version("0.9.0")), HasSubstr("run it again"));
  EXPECT_THAT(error_of(with_version("one")), HasSubstr("is not a version"));
  EXPECT_THAT(error_of(with_version("1")), HasSubstr("is not a version"));
  EXPECT_THAT(error_of(with_version("99999999999999999999.0")), HasSubstr("is not a version"));
}

TEST(LoadResult, RefusesAModeGivenTwice) {
  const std::string mode = R"({"mode": "32-true", "status": "ok"})";
  const std::string path = written(
      "twice.json", R"({"schema_version": "1.0.0", "tool": {}, "invocation": {}, "protocol": {}, )"
                    R"("environment": {}, "modes": [)" +
                        mode + "," + mode + "]}");
  EXPECT_THAT(error_of(path), HasSubstr("modes[1].mode '32-true' stands there twice"));
}

TEST(LoadResult, RefusesFiguresThatNoRunHas) {
  const auto error_with = [](const std::string& member) {
    return error_of(
        written("figure.json",
                R"({"schema_version": "1.0.0", "tool": {}, "invocation": {}, "protocol": {}, )"
                R"("environment": {}, "modes": [{"mode": "32-true", "status": "ok", "runs": )"
                R"([{"status": "ok", )" +
                    member + "}]}]}"));
  };
  EXPECT_THAT(error_with(R"("time": {"total_s": -5})"),
              HasSubstr("modes[0].runs[0].time.total_s must not be negative"));
  EXPECT_THAT(error_with(R"("time": {"total_s": 0})"),
              HasSubstr("modes[0].runs[0].time.total_s must be over 0 where a run is ok"));
  EXPECT_THAT(error_with(R"("time": {"train_s": 1e13})"),
              HasSubstr("modes[0].runs[0].time.train_s must be at most"));
  EXPECT_THAT(error_with(R"("test_accuracy": 47)"),
              HasSubstr("modes[0].runs[0].test_accuracy must be a fraction between 0 and 1"));
  EXPECT_THAT(error_with(R"("role": "twice")"),
              HasSubstr("modes[0].runs[0].role 'twice' is not measure or drift"));
}

}  // namespace
}  // namespace precbench::result_load_test
