#include "data/file_reader.h"

#include <sys/stat.h>

#include "files.h"

namespace precbench::data::file_reader_test {
namespace {

using ::testing::HasSubstr;

class FileReading : public FilesTest {};

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

TEST_F(FileReading, GivesTheBytesInPieces) {
  for (const std::string& path : {file("plain", "abcdefgh"), gzip_file("packed.gz", "abcdefgh")}) {
    FileReader reader(path);
    EXPECT_EQ(text_of(reader.read_up_to(3)), "abc");
    EXPECT_EQ(text_of(reader.read_up_to(2)), "de");
    EXPECT_EQ(reader.count_rest(2), 2U);
    EXPECT_EQ(reader.count_rest(100), 1U);
    EXPECT_EQ(text_of(reader.read_up_to(5)), "");
  }
}

TEST_F(FileReading, ReadsGzipMembersOneAfterTheOther) {
  const std::string member = bytes_of(gzip_file("one.gz", "abc"));
  EXPECT_EQ(text_of(FileReader(file("two.gz", member + member)).read_up_to(100)), "abcabc");
}

TEST_F(FileReading, ReadsMoreThanOneBlock) {
  std::string bytes(40 << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i >> 16 ^ i);
  FileReader reader(file("large", bytes));
  EXPECT_EQ(text_of(reader.read_up_to(uint64_t{1} << 40)), bytes);
}

TEST_F(FileReading, SaysWhatIsNotAFile) {
  EXPECT_THAT(failure([&] { FileReader(path("none")); }),
              HasSubstr("none' cannot be read: No such file or directory"));
  EXPECT_THAT(failure([&] { FileReader reader(folder_); }), HasSubstr("is a folder, not a file"));
  EXPECT_THAT(failure([&] { FileReader(file("empty", "")); }), HasSubstr("empty' is empty"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(failure([&] { FileReader(path("pipe")); }), HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace precbench::data::file_reader_test
