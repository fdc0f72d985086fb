#include "data/tar_reader.h"

#include "files.h"

namespace precbench::data::tar_reader_test {
namespace {

using testing::HasSubstr;

// One header as POSIX.1-1988 lays it out: name, mode, owners, size, time, checksum, type, magic.
std::string header(const std::string& name, const std::string& size, char type = '0') {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(100, 7, "0000644");
  block.replace(124, size.size(), size);
  block[156] = type;
  block.replace(257, 6, std::string("ustar\0", 6));
  block.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  char octal[8];
  std::snprintf(octal, sizeof octal, "%06o", sum);
  block.replace(148, 7, std::string(octal, 7));
  return block;
}

std::string content(const std::string& bytes) {
  return bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

const std::string kEnd(1024, '\0');

class Tar : public FilesTest {
 protected:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  Entries entries(const std::string& bytes) const {
    Entries found;
    TarReader reader(file("archive.tar", bytes));
    while (const auto name = reader.next()) {
      const auto read = reader.read(1000);
      found.emplace_back(*name, std::string(read.begin(), read.end()));
    }
    return found;
  }
  std::string failure(const std::string& bytes) const {
    try {
      entries(bytes);
    } catch (const FileError& error) {
      return error.what();
    }
    return "no FileError";
  }
};

TEST_F(Tar, FindsRegularFilesAmongOthers) {
  const std::string bytes = header("folder/", "00000000000", '5') +
                            header("folder/one", "00000000003") + content("abc") +
                            header("link", "00000000777", '2') +  // a link has no content
                            header("empty", "00000000000") + header("old", " 1000 ", '\0') +
                            content(std::string(512, 'o')) + kEnd;
  EXPECT_EQ(entries(bytes),
            (Entries{{"one", "abc"}, {"empty", ""}, {"old", std::string(512, 'o')}}));
  EXPECT_EQ(entries(bytes + std::string(9000, '\0')).size(), 3U);  // tar pads to 20 blocks
}

TEST_F(Tar, PassesOverWhatDescribesTheNextEntry) {
  EXPECT_EQ(entries(header("././@LongLink", "00000000005", 'L') + content("long\0") +
                    header("pax", "00000000006", 'x') + content("6 a=b\n") +
                    header("one", "00000000003") + content("abc") + kEnd),
            (Entries{{"one", "abc"}}));
}

TEST_F(Tar, SkipsWhatIsNotRead) {
  TarReader reader(file("archive.tar", header("one", "00000000003") + content("abc") +
                                           header("two", "00000000003") + content("xyz") + kEnd));
  EXPECT_EQ(reader.next(), "one");
  EXPECT_EQ(reader.next(), "two");
  EXPECT_EQ(reader.read(3), (std::vector<uint8_t>{'x', 'y', 'z'}));
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST_F(Tar, EndsWithoutBlocksOfZeros) {
  EXPECT_EQ(entries(header("one", "00000000003") + content("abc")), (Entries{{"one", "abc"}}));
}

TEST_F(Tar, RefusesWhatIsNoneOrDamaged) {
  const std::string one = header("one", "00000000003") + content("abc");
  EXPECT_THAT(failure("short"), HasSubstr("is not a tar archive"));
  EXPECT_THAT(failure(one + std::string(512, 'x') + kEnd), HasSubstr("is not a tar archive"));
  EXPECT_THAT(failure(one + std::string(100, 'x')), HasSubstr("ends within a header"));
  EXPECT_THAT(failure(header("one", "00000000777") + "abc"), HasSubstr("ends within an entry"));
  std::string flipped = one + kEnd;
  flipped[2] ^= 1;
  EXPECT_THAT(failure(flipped), HasSubstr("is not a tar archive"));
  // The binary form of sizes over 8 GiB.
  EXPECT_THAT(failure(header("one", "\x80\x7f\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01") + kEnd),
              HasSubstr("is not a tar archive"));
}

TEST_F(Tar, RefusesSizesThatNoDataSetHas) {
  EXPECT_THAT(failure(header("one", "00000002000") + content(std::string(1024, 'x')) + kEnd),
              HasSubstr("holds an entry that is larger than it should be"));
  TarReader reader(file("big.tar", header("one", "77777777777") + kEnd));
  EXPECT_EQ(reader.next(), "one");
  EXPECT_THROW(reader.next(), FileError);  // before anything of it is read
}

}  // namespace
}  // namespace precbench::data::tar_reader_test
