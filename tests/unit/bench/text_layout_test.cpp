// Golden pictures of tables in terminals of several widths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/text/layout.h"
#include "common/utf8.h"

namespace precbench::text_layout_test {
namespace {

using ::testing::ElementsAre;

const std::vector<std::string> kHeader = {"device",   "time",       "speed",
                                          "peak MiB", "vs 32-true", "notes"};
const std::vector<std::vector<std::string>> kRows = {
    {"日本語カード", "16m 28s", "3.74x faster", "5603", "-36 %", "scale 65536, 2 skipped"},
    {"Tesla T4", "61m 32s", "ref", "8806", "ref", ""}};

TEST(Columns, WideCharactersTakeTwoAndCombiningOnesNone) {
  EXPECT_EQ(columns_of("Tesla T4"), 8U);
  EXPECT_EQ(columns_of("日本語カード"), 12U);
  EXPECT_EQ(columns_of("ＧＰＵ"), 6U);
  EXPECT_EQ(columns_of("e\u0301"), 1U);  // e with a combining acute
  EXPECT_EQ(columns_of("ｶｰﾄﾞ"), 4U);     // half-width
  EXPECT_EQ(columns_of("± · ≈"), 5U);
  EXPECT_EQ(columns_of("\U0001F680"), 2U);
}

TEST(LaidOut, WideCellsKeepTheirColumns) {
  EXPECT_THAT(
      laid_out(kHeader, kRows),
      ElementsAre(
          "device        time     speed         peak MiB  vs 32-true  notes",
          "日本語カード  16m 28s  3.74x faster  5603      -36 %       scale 65536, 2 skipped",
          "Tesla T4      61m 32s  ref           8806      ref"));
  EXPECT_EQ(laid_out(kHeader, kRows, 200), laid_out(kHeader, kRows));
}

TEST(LaidOut, At80ColumnsTheLastColumnIsWrapped) {
  EXPECT_THAT(
      laid_out(kHeader, kRows, 80),
      ElementsAre("device        time     speed         peak MiB  vs 32-true  notes",
                  "日本語カード  16m 28s  3.74x faster  5603      -36 %       scale 65536, 2",
                  "                                                           skipped",
                  "Tesla T4      61m 32s  ref           8806      ref"));
}

TEST(LaidOut, At60ColumnsThereAreTwoTables) {
  EXPECT_THAT(laid_out(kHeader, kRows, 60),
              ElementsAre("device        time     speed         peak MiB  vs 32-true",  //
                          "日本語カード  16m 28s  3.74x faster  5603      -36 %",       //
                          "Tesla T4      61m 32s  ref           8806      ref",         //
                          "",                                                           //
                          "device        notes",                                        //
                          "日本語カード  scale 65536, 2 skipped",                       //
                          "Tesla T4"));
}

TEST(LaidOut, AFigureKeepsItsComparison) {
  EXPECT_THAT(laid_out(kHeader, kRows, 50),
              ElementsAre("device        time     speed",                        //
                          "日本語カード  16m 28s  3.74x faster",                 //
                          "Tesla T4      61m 32s  ref",                          //
                          "",                                                    //
                          "device        peak MiB  vs 32-true  notes",           //
                          "日本語カード  5603      -36 %       scale 65536, 2",  //
                          "                                    skipped",         //
                          "Tesla T4      8806      ref"));
}

TEST(LaidOut, NoLineIsWiderThanTheTerminal) {
  for (size_t columns = 26; columns < 140; ++columns) {
    for (const std::string& line : laid_out(kHeader, kRows, columns))
      EXPECT_LE(columns_of(line), columns) << line;
  }
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("fp32 of 32-true here", 12, 2), "fp32 of\n  32-true\n  here");
  EXPECT_EQ(wrapped("fits", 12, 2), "fits");
  EXPECT_EQ(wrapped("abc def", 3, 0), "abc\ndef");
  EXPECT_EQ(wrapped("as long as it comes", 0, 2), "as long as it comes");
  EXPECT_EQ(wrapped("one\n  two three", 7, 2), "one\n  two\n  three");
}

TEST(Wrapped, CutsWhatHasNoWords) {
  EXPECT_EQ(wrapped("abcdefgh", 3, 0), "abc\ndef\ngh");
  EXPECT_EQ(wrapped("日本語カード", 5, 0), "日本\n語カ\nード");
}

TEST(CutTo, CountsColumns) {
  EXPECT_EQ(cut_to("abcdef", 4), "abcd");
  EXPECT_EQ(cut_to("日本語", 5), "日本");
  EXPECT_EQ(cut_to("é", 4), "é");
}

}  // namespace
}  // namespace precbench::text_layout_test
