#include <gtest/gtest.h>

#include "bench/text/escape.h"

namespace precbench::text_escape_test {
namespace {

TEST(TerminalText, DisarmsEscapesAndKeepsLetters) {
  EXPECT_EQ(terminal_text("\x1b]0;pwned\x07\x1b[31mGPU \xC3\xBC"), "?]0;pwned??[31mGPU \xC3\xBC");
}

TEST(TerminalText, DisarmsEightBitControlsAndReordering) {
  EXPECT_EQ(terminal_text("a\xC2\x9B"
                          "31mb"),
            "a?31mb");
  EXPECT_EQ(terminal_text("a\xE2\x80\xAE"
                          "b\xE2\x81\xA6"
                          "c"),
            "a?b?c");
}

TEST(TerminalText, MakesOneLine) {
  EXPECT_EQ(terminal_text("a\nb\r\tc\xE2\x80\xA8"
                          "d"),
            "a b  c d");
}

TEST(MarkdownText, KeepsACellACell) {
  EXPECT_EQ(markdown_text("a|b\n```"), "a\\|b \\`\\`\\`");
  EXPECT_EQ(markdown_text("<img> [x](y) *z*"), "&lt;img&gt; \\[x\\](y) \\*z\\*");
}

TEST(MarkdownText, BeginsNoBlock) {
  EXPECT_EQ(markdown_text("    - a - b"), "\\- a - b");
  EXPECT_EQ(markdown_text("12. a 1. b"), "12\\. a 1. b");
  EXPECT_EQ(markdown_text("---"), "\\---");
  EXPECT_EQ(markdown_text("-17 % and 1.5x"), "-17 % and 1.5x");
  EXPECT_EQ(markdown_text("1.5x"), "1.5x");
}

TEST(MarkdownCode, EndsWhereItIsMeantTo) {
  EXPECT_EQ(markdown_code("f(x)"), "`f(x)`");
  EXPECT_EQ(markdown_code("a`` b"), "``` a`` b ```");
}

TEST(CsvText, DisarmsFormulas) {
  EXPECT_EQ(csv_text("=1+1"), "'=1+1");
  EXPECT_EQ(csv_text("@SUM(1,2)"), "\"'@SUM(1,2)\"");
  EXPECT_EQ(csv_text("+1"), "'+1");
  EXPECT_EQ(csv_text("-1"), "'-1");
}

TEST(CsvText, DisarmsFormulasBehindSpacesAndInFullWidth) {
  for (const char* formula : {" =1", "\t=1", "\r\n+1", "\u00A0=1", "\u3000@x", "\uFEFF=1",
                              "\u200B-1", "\uFF1D1", "\uFF0B1", "\uFF0D1", "\uFF20x", " \uFF1D1"}) {
    EXPECT_EQ(csv_text(formula).front(), '\'') << formula;
  }
  EXPECT_EQ(csv_text("a=1"), "a=1");
  EXPECT_EQ(csv_text("\x01=1"), "?=1");
}

TEST(CsvText, QuotesCommasSemicolonsAndQuotes) {
  EXPECT_EQ(csv_text("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(csv_text("a;=b"), "\"a;=b\"");
}

TEST(HtmlText, LeavesNoMarkup) {
  EXPECT_EQ(html_text("</script><img src=x onerror='a'>&\""),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;");
}

TEST(AsciiText, ReplacesDecorations) { EXPECT_EQ(ascii_text("1 ± 2 ≈ · …"), "1 +- 2 ~ | ..."); }

TEST(AsciiText, LeavesNothingElse) { EXPECT_EQ(ascii_text("日本 GPU"), "?? GPU"); }

TEST(Shortened, CutsAtACharacter) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("ab\xC3\xBC"
                      "cd",
                      3),
            "ab...");
}

}  // namespace
}  // namespace precbench::text_escape_test
