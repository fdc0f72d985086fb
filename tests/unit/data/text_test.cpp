#include "data/text.h"

#include "files.h"

namespace precbench::data::text_test {
namespace {

using ::testing::HasSubstr;

class Text : public FilesTest {
 protected:
  static std::string failure(const std::string& path, int64_t context) {
    return FilesTest::failure([&] { read_text(path, context); });
  }
};

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

TEST_F(Text, TrainsOnNineTenthsAndTestsOnTheRest) {
  // int(0.9 * 26) = 23 bytes to train on, as nanoGPT's data[:int(n * 0.9)].
  const std::string alphabet = "abcdefghijklmnopqrstuvwxyz";
  for (const std::string& path : {file("t", alphabet), gzip_file("t.gz", alphabet)}) {
    const TextSet text = read_text(path, 2);
    EXPECT_EQ(text_of(text.train), "abcdefghijklmnopqrstuvw");
    EXPECT_EQ(text_of(text.test), "xyz");
  }
}

TEST_F(Text, TakesEveryByteAsItIs) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<char>(i));
  const TextSet text = read_text(file("t", bytes), 64);
  EXPECT_EQ(text_of(text.train) + text_of(text.test), bytes);
}

TEST_F(Text, SaysWhenTheTestPartIsShorterThanASequence) {
  const std::string path = file("short", std::string(640, 'x'));
  EXPECT_EQ(read_text(path, 63).test.size(), 64U);
  EXPECT_THAT(failure(path, 64),
              HasSubstr("short' is too short: its last tenth, which is for testing, has 64 bytes, "
                        "and one sequence needs 65"));
}

TEST_F(Text, RefusesWhatIsNotThere) {
  EXPECT_THAT(failure(path("none"), 8), HasSubstr("No such file"));
  EXPECT_THAT(failure(folder_, 8), HasSubstr("is a folder"));
  EXPECT_THAT(failure(file("empty", ""), 8), HasSubstr("is empty"));
}

}  // namespace
}  // namespace precbench::data::text_test
