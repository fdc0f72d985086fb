#include "data/idx.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/errors.h"
#include "data/load.h"
#include "data/locate.h"

namespace precbench::data {
namespace {

using testing::Test;

// A folder of its own for each test; files are built byte by byte as the format's description says.
class Idx : public Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "precbench-idx-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& bytes) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  static std::string number(uint32_t value) {
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
            static_cast<char>(value >> 8), static_cast<char>(value)};
  }
  static std::string images(uint32_t count, uint32_t height, uint32_t width,
                            const std::string& pixels) {
    return std::string("\0\0\x08\x03", 4) + number(count) + number(height) + number(width) + pixels;
  }
  static std::string labels(uint32_t count, const std::string& values) {
    return std::string("\0\0\x08\x01", 4) + number(count) + values;
  }
  // The message of the FileError that reading must throw.
  static std::string failure(const std::string& images_path, const std::string& labels_path) {
    try {
      read_idx(images_path, labels_path, 10);
    } catch (const FileError& error) {
      EXPECT_EQ(error.code(), ExitCode::file);
      return error.what();
    }
    return "no error";
  }

  std::string folder_;
};

TEST_F(Idx, ReadsImagesAndLabels) {
  const ImageSet set =
      read_idx(file("i", images(2, 1, 3, "abcdef")), file("l", labels(2, {3, 9})), 10);
  EXPECT_EQ(set.count, 2);
  EXPECT_EQ(set.height, 1);
  EXPECT_EQ(set.width, 3);
  EXPECT_EQ(set.pixels, (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(set.labels, (std::vector<uint8_t>{3, 9}));
}

TEST_F(Idx, HeaderThatPromisesMoreThanTheFileHoldsIsNamed) {
  const std::string message =
      failure(file("i", images(3, 1, 3, "abcdef")), file("l", labels(2, {3, 9})));
  EXPECT_NE(message.find("truncated: its header promises 3 x 1 x 3 = 9 bytes, the file holds 6"),
            std::string::npos)
      << message;
}

TEST_F(Idx, TrailingBytesAreRefused) {
  const std::string message =
      failure(file("i", images(1, 1, 3, "abcdef")), file("l", labels(1, {3})));
  EXPECT_NE(message.find("too long"), std::string::npos) << message;
}

TEST_F(Idx, ProductOfDimensionsThatOverflowsIsRefused) {
  const std::string message = failure(file("i", images(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, "abc")),
                                      file("l", labels(1, {3})));
  EXPECT_NE(message.find("more than any such file holds"), std::string::npos) << message;
}

TEST_F(Idx, SwappedFilesAreNamed) {
  const std::string message =
      failure(file("l", labels(2, {3, 9})), file("i", images(2, 1, 1, "ab")));
  EXPECT_NE(message.find("swapped"), std::string::npos) << message;
}

TEST_F(Idx, CountsThatDifferAreRefused) {
  const std::string message =
      failure(file("i", images(2, 1, 1, "ab")), file("l", labels(3, {1, 2, 3})));
  EXPECT_NE(message.find("3 labels for the 2 images"), std::string::npos) << message;
}

TEST_F(Idx, LabelOutOfRangeIsRefused) {
  const std::string message =
      failure(file("i", images(2, 1, 1, "ab")), file("l", labels(2, {1, 10})));
  EXPECT_NE(message.find("label 10"), std::string::npos) << message;
}

TEST_F(Idx, EmptyMissingAndForeignFilesAreRefused) {
  const std::string good_labels = file("l", labels(1, {1}));
  EXPECT_NE(failure(file("e", ""), good_labels).find("is empty"), std::string::npos);
  EXPECT_NE(failure(folder_ + "/none", good_labels).find("cannot be read"), std::string::npos);
  EXPECT_NE(failure(file("t", "this is a text, not IDX"), good_labels).find("is not an IDX file"),
            std::string::npos);
  EXPECT_NE(failure(folder_, good_labels).find("is a folder"), std::string::npos);
}

TEST_F(Idx, TruncatedGzipIsRefused) {
  const std::string plain = file("plain", images(400, 5, 5, std::string(10000, 'x')));
  ASSERT_EQ(std::system(("gzip -c " + plain + " > " + folder_ + "/whole.gz").c_str()), 0);
  const auto whole = std::filesystem::file_size(folder_ + "/whole.gz");
  std::filesystem::copy(folder_ + "/whole.gz", folder_ + "/cut.gz");
  std::filesystem::resize_file(folder_ + "/cut.gz", whole - 12);
  const std::string good_labels = file("l", labels(400, std::string(400, '\1')));
  EXPECT_EQ(read_idx(folder_ + "/whole.gz", good_labels, 10).count, 400);
  EXPECT_NE(failure(folder_ + "/cut.gz", good_labels).find("truncated"), std::string::npos)
      << failure(folder_ + "/cut.gz", good_labels);
}

TEST_F(Idx, MissingDataSetSaysWhereItLookedAndWhatToDo) {
  try {
    locate_idx_files("fashion-mnist", folder_);
    FAIL() << "found files in an empty folder";
  } catch (const FileError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(folder_ + "/fashion-mnist"), std::string::npos) << message;
    EXPECT_NE(message.find("scripts/precbench"), std::string::npos) << message;
  }
}

TEST_F(Idx, FolderThatLacksOneFileIsToldWhich) {
  for (const char* name :
       {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte.gz"}) {
    file(name, "x");
  }
  try {
    locate_idx_files("mnist", folder_);
    FAIL();
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("lacks t10k-labels-idx1-ubyte (plain or .gz)"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Idx, LimitsKeepTheFirstSamplesAndMayNotExceedThem) {
  file("train-images-idx3-ubyte", images(3, 1, 2, "abcdef"));
  file("train-labels-idx1-ubyte", labels(3, {1, 2, 3}));
  file("t10k-images-idx3-ubyte", images(2, 1, 2, "ghij"));
  file("t10k-labels-idx1-ubyte", labels(2, {4, 5}));
  DatasetJob job;
  job.name = "mnist";
  job.dir = folder_;
  job.limit_train = 2;
  const ImageData data = load_images(job);
  EXPECT_EQ(data.train.count, 2);
  EXPECT_EQ(data.train.pixels, (std::vector<uint8_t>{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(data.test.labels, (std::vector<uint8_t>{4, 5}));
  job.limit_train = 4;
  EXPECT_THROW(check_dataset(job), UsageError);
}

}  // namespace
}  // namespace precbench::data
