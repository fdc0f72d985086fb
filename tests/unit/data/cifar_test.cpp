#include "data/cifar.h"

#include <gmock/gmock.h>

#include "files.h"

namespace precbench::data::cifar_test {
namespace {

using ::testing::HasSubstr;

constexpr size_t kPlaneBytes = 32 * 32;

// Labels, then a red, a green and a blue plane of one value each.
std::string record(const std::string& labels, char red, char green, char blue) {
  return labels + std::string(kPlaneBytes, red) + std::string(kPlaneBytes, green) +
         std::string(kPlaneBytes, blue);
}

class Cifar : public FilesTest {
 protected:
  // The six files of CIFAR-10 with one record each: label = place of the file, red = 10 + label.
  static std::vector<std::pair<std::string, std::string>> ten() {
    std::vector<std::pair<std::string, std::string>> files;
    for (char i = 1; i <= 5; ++i) {
      files.emplace_back("cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin",
                         record({i}, static_cast<char>(10 + i), 1, 2));
    }
    files.emplace_back("cifar-10-batches-bin/test_batch.bin", record({9}, 19, 3, 4));
    return files;
  }
  static std::string ten_failure(const std::string& path) {
    return failure([&] { read_cifar(*find_cifar("cifar10"), path); });
  }
  static void expect_ten(const CifarSplits& splits) {
    EXPECT_EQ(splits.train.count, 5);
    EXPECT_EQ(splits.train.channels, 3);
    EXPECT_EQ(splits.train.height, 32);
    EXPECT_EQ(splits.train.width, 32);
    EXPECT_EQ(splits.train.labels, (std::vector<uint8_t>{1, 2, 3, 4, 5}));
    ASSERT_EQ(splits.train.pixels.size(), 5U * 3072);
    EXPECT_EQ(splits.train.pixels[2 * 3072], 13);  // third image, red
    EXPECT_EQ(splits.train.pixels[2 * 3072 + 1023], 13);
    EXPECT_EQ(splits.train.pixels[2 * 3072 + 1024], 1);  // green
    EXPECT_EQ(splits.train.pixels[2 * 3072 + 3071], 2);  // blue
    EXPECT_EQ(splits.test.count, 1);
    EXPECT_EQ(splits.test.labels, (std::vector<uint8_t>{9}));
    EXPECT_EQ(splits.test.pixels.front(), 19);
  }
};

TEST_F(Cifar, ReadsTheFilesOfAFolderInTheirOrder) {
  for (const auto& [name, bytes] : ten()) file(name, bytes);
  expect_ten(read_cifar(*find_cifar("cifar10"), path("cifar-10-batches-bin")));
}

TEST_F(Cifar, ReadsTheArchiveAsItIsDistributedInWhateverOrder) {
  auto files = ten();
  std::reverse(files.begin(), files.end());
  files.insert(files.begin() + 2, {"cifar-10-batches-bin/readme.html", "<html>"});
  expect_ten(read_cifar(*find_cifar("cifar10"), tar_gz_file("cifar.tar.gz", files)));
}

TEST_F(Cifar, TakesTheFineLabelOfCifar100) {
  file("train.bin", record({19, 98}, 1, 2, 3) + record({0, 7}, 4, 5, 6));
  file("test.bin", record({1, 99}, 7, 8, 9));
  const CifarSplits splits = read_cifar(*find_cifar("cifar100"), folder_);
  EXPECT_EQ(splits.train.labels, (std::vector<uint8_t>{98, 7}));
  EXPECT_EQ(splits.train.pixels[3072], 4);
  EXPECT_EQ(splits.test.labels, (std::vector<uint8_t>{99}));
}

TEST_F(Cifar, NamesTheFileThatIsMissing) {
  auto files = ten();
  files.erase(files.begin() + 3);
  EXPECT_THAT(ten_failure(tar_gz_file("cifar.tar.gz", files)),
              HasSubstr("cifar.tar.gz' lacks data_batch_4.bin"));
  for (const auto& [name, bytes] : files) file(name, bytes);
  EXPECT_THAT(ten_failure(path("cifar-10-batches-bin")),
              HasSubstr("data_batch_4.bin' cannot be read: No such file"));
}

TEST_F(Cifar, NamesTheFileThatEndsInsideARecord) {
  auto files = ten();
  files[1].second.pop_back();
  EXPECT_THAT(
      ten_failure(tar_gz_file("cifar.tar.gz", files)),
      HasSubstr("cifar.tar.gz:data_batch_2.bin' is truncated or not cifar10: 3072 bytes are "
                "no whole number of records of 3073"));
}

TEST_F(Cifar, NamesTheRecordWhoseLabelIsOutOfRange) {
  auto files = ten();
  files[0].second += record({10}, 1, 2, 3);
  EXPECT_THAT(ten_failure(tar_gz_file("cifar.tar.gz", files)),
              HasSubstr("data_batch_1.bin' holds label 10 in record 1; this data set has classes "
                        "0 to 9"));
}

TEST_F(Cifar, RefusesAnArchiveThatIsTruncatedCorruptOrNone) {
  const std::string whole = bytes_of(tar_gz_file("cifar.tar.gz", ten()));
  for (const size_t cut : {whole.size() - 1, whole.size() - 12, whole.size() / 2}) {
    EXPECT_THAT(ten_failure(file("cut.tar.gz", whole.substr(0, cut))),
                HasSubstr("cut.tar.gz' is truncated"))
        << cut;
  }
  std::string flipped = whole;
  flipped[whole.size() - 6] ^= 1;  // in the checksum
  EXPECT_THAT(ten_failure(file("flipped.tar.gz", flipped)), HasSubstr("is corrupt"));
  EXPECT_THAT(ten_failure(file("text", std::string(4096, 'x'))),
              HasSubstr("text' is not a tar archive"));
  EXPECT_THAT(ten_failure(path("none")), HasSubstr("cannot be read: No such file"));
}

TEST_F(Cifar, RefusesAnArchiveThatHoldsAFileTwice) {
  auto files = ten();
  files.push_back(files[0]);
  EXPECT_THAT(ten_failure(tar_gz_file("cifar.tar.gz", files)),
              HasSubstr("holds data_batch_1.bin twice"));
}

TEST_F(Cifar, KnowsNoOtherName) {
  EXPECT_EQ(find_cifar("cifar"), nullptr);
  EXPECT_EQ(find_cifar("mnist"), nullptr);
}

}  // namespace
}  // namespace precbench::data::cifar_test
