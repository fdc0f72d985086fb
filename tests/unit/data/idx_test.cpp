#include "data/idx.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/errors.h"
#include "data/load.h"
#include "data/locate.h"
#include "files.h"

namespace precbench::data::idx_test {
namespace {

using ::testing::HasSubstr;

class Idx : public FilesTest {
 protected:
  static std::string failure(const std::string& images_path, const std::string& labels_path) {
    return FilesTest::failure([&] { read_idx(images_path, labels_path, 10); });
  }

  // MNIST's files in the folder, with three training images of 1 x 2, of which the job takes two.
  DatasetJob two_of_three(const std::string& train_pixels) {
    file("train-images-idx3-ubyte", idx_images(3, 1, 2, train_pixels));
    file("train-labels-idx1-ubyte", idx_labels(3, {1, 2, 3}));
    file("t10k-images-idx3-ubyte", idx_images(2, 1, 2, "ghij"));
    file("t10k-labels-idx1-ubyte", idx_labels(2, {4, 5}));
    DatasetJob job;
    job.name = "mnist";
    job.dir = folder_;
    job.limit_train = 2;
    return job;
  }
};

TEST_F(Idx, ReadsImagesAndLabels) {
  const ImageSet set =
      read_idx(file("i", idx_images(2, 1, 3, "abcdef")), file("l", idx_labels(2, {3, 9})), 10);
  EXPECT_EQ(set.count, 2);
  EXPECT_EQ(set.height, 1);
  EXPECT_EQ(set.width, 3);
  EXPECT_EQ(set.pixels, (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(set.labels, (std::vector<uint8_t>{3, 9}));
}

TEST_F(Idx, HeaderThatPromisesMoreThanTheFileHoldsIsNamed) {
  const std::string message =
      failure(file("i", idx_images(3, 1, 3, "abcdef")), file("l", idx_labels(2, {3, 9})));
  EXPECT_THAT(message,
              HasSubstr("truncated: its header promises 3 x 1 x 3 = 9 bytes, the file holds 6"));
}

TEST_F(Idx, TrailingBytesAreRefused) {
  const std::string message =
      failure(file("i", idx_images(1, 1, 3, "abcdef")), file("l", idx_labels(1, {3})));
  EXPECT_THAT(message, HasSubstr("too long"));
}

TEST_F(Idx, ProductOfDimensionsThatOverflowsIsRefused) {
  const std::string message =
      failure(file("i", idx_images(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, "abc")),
              file("l", idx_labels(1, {3})));
  EXPECT_THAT(message, HasSubstr("more than any such file holds"));
}

TEST_F(Idx, SwappedFilesAreNamed) {
  const std::string message =
      failure(file("l", idx_labels(2, {3, 9})), file("i", idx_images(2, 1, 1, "ab")));
  EXPECT_THAT(message, HasSubstr("swapped"));
}

TEST_F(Idx, CountsThatDifferAreRefused) {
  const std::string message =
      failure(file("i", idx_images(2, 1, 1, "ab")), file("l", idx_labels(3, {1, 2, 3})));
  EXPECT_THAT(message, HasSubstr("3 labels for the 2 images"));
}

TEST_F(Idx, LabelOutOfRangeIsRefused) {
  const std::string message =
      failure(file("i", idx_images(2, 1, 1, "ab")), file("l", idx_labels(2, {1, 10})));
  EXPECT_THAT(message, HasSubstr("label 10"));
}

TEST_F(Idx, EmptyMissingAndForeignFilesAreRefused) {
  const std::string good_labels = file("l", idx_labels(1, {1}));
  EXPECT_THAT(failure(file("e", ""), good_labels), HasSubstr("is empty"));
  EXPECT_THAT(failure(folder_ + "/none", good_labels), HasSubstr("cannot be read"));
  EXPECT_THAT(failure(file("t", "this is a text, not IDX"), good_labels),
              HasSubstr("is not an IDX file"));
  EXPECT_THAT(failure(folder_, good_labels), HasSubstr("is a folder"));
}

TEST_F(Idx, LimitReadsTheFirstSamplesAndLooksNoFurther) {
  const std::string whole = idx_images(3, 1, 2, "aabbcc");
  const std::string labels = file("l", idx_labels(3, {1, 2, 99}));
  const ImageSet two = read_idx(file("i", whole), labels, 10, 2);
  EXPECT_EQ(two.count, 2);
  EXPECT_EQ(two.pixels, (std::vector<uint8_t>{'a', 'a', 'b', 'b'}));
  EXPECT_EQ(two.labels, (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(read_idx(file("i", whole.substr(0, whole.size() - 2)), labels, 10, 2).count, 2);
  const std::string cut = file("i", whole.substr(0, whole.size() - 3));
  EXPECT_THAT(FilesTest::failure([&] { read_idx(cut, labels, 10, 2); }),
              HasSubstr("is truncated: its header promises 3 x 1 x 2 = 6 bytes, the file holds 3"));
}

TEST_F(Idx, ReadsGzipByContentAndRefusesATruncatedOne) {
  const std::string whole =
      gzip_file("whole", idx_images(400, 5, 5, std::string(10000, 'x')));  // no .gz in its name
  const std::string labels = file("l", idx_labels(400, std::string(400, '\1')));
  EXPECT_EQ(read_idx(whole, labels, 10).pixels, std::vector<uint8_t>(10000, 'x'));
  const std::string bytes = bytes_of(whole);
  for (const size_t cut : {bytes.size() - 1, bytes.size() - 12, bytes.size() / 2, size_t{11}}) {
    EXPECT_THAT(failure(file("cut.gz", bytes.substr(0, cut)), labels),
                HasSubstr("cut.gz' is truncated: its compressed data end too early"))
        << cut;
  }
}

TEST_F(Idx, WrongChecksumOfAGzipIsRefusedThoughItsLengthIsRight) {
  // Stored, not compressed: a wrong bit still inflates to something of the right length.
  const std::string pixels = "pixels that do not compress";
  gzFile out = gzopen(path("flipped.gz").c_str(), "wb0");
  const std::string images = idx_images(1, 1, static_cast<uint32_t>(pixels.size()), pixels);
  gzwrite(out, images.data(), static_cast<unsigned>(images.size()));
  gzclose(out);
  const std::string labels = file("l", idx_labels(1, {3}));
  EXPECT_EQ(read_idx(path("flipped.gz"), labels, 10).count, 1);
  std::string bytes = bytes_of(path("flipped.gz"));
  bytes[bytes.find("compress")] ^= 1;
  EXPECT_THAT(failure(file("flipped.gz", bytes), labels),
              HasSubstr("flipped.gz' is corrupt (incorrect data check); get the file again"));
}

TEST_F(Idx, SmallGzipThatInflatesWithoutEndIsGivenUpEarly) {
  const std::string bomb = gzip_file("bomb.gz", idx_images(1, 1, 3, std::string(50 << 20, '\0')));
  EXPECT_THAT(failure(bomb, file("l", idx_labels(1, {3}))),
              HasSubstr("promises 1 x 1 x 3 = 3 bytes, the file holds at least 1048579"));
}

TEST_F(Idx, HugePromiseOfASmallFileTakesNoMemory) {
  // 2^32 - 4 bytes promised, 3 there: the vector may not be made for the promise.
  const std::string labels = file("l", idx_labels(1, {3}));
  const std::string images = idx_images(1, 4, 0x3FFFFFFF, "abc");
  EXPECT_THAT(failure(file("i", images), labels),
              HasSubstr("= 4294967292 bytes, the file holds 3;"));
  EXPECT_THAT(failure(gzip_file("i.gz", images), labels),
              HasSubstr("= 4294967292 bytes, the file holds 3;"));
}

TEST_F(Idx, MissingDataSetSaysWhereItLookedAndWhatToDo) {
  try {
    locate_idx_files("fashion-mnist", folder_);
    FAIL() << "found files in an empty folder";
  } catch (const FileError& error) {
    const std::string message = error.what();
    EXPECT_THAT(message, HasSubstr(folder_ + "/fashion-mnist"));
    EXPECT_THAT(message, HasSubstr("scripts/precbench"));
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

TEST_F(Idx, CheckReadsBeyondTheLimits) {
  const DatasetJob job = two_of_three("abcde");
  EXPECT_EQ(load_images(job).train.count, 2);
  EXPECT_THAT(FilesTest::failure([&] { check_dataset(job); }), HasSubstr("is truncated"));
}

TEST_F(Idx, LimitsKeepTheFirstSamplesAndMayNotExceedThem) {
  DatasetJob job = two_of_three("abcdef");
  const ImageData data = load_images(job);
  EXPECT_EQ(data.train.count, 2);
  EXPECT_EQ(data.train.pixels, (std::vector<uint8_t>{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(data.test.labels, (std::vector<uint8_t>{4, 5}));
  job.limit_train = 4;
  EXPECT_THROW(check_dataset(job), UsageError);
}

}  // namespace
}  // namespace precbench::data::idx_test
