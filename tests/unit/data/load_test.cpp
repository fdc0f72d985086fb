#include "data/load.h"

#include <gmock/gmock.h>

#include "data/locate.h"
#include "files.h"

namespace precbench::data::load_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Load : public FilesTest {
 protected:
  // CIFAR-10 with one black image in each file, labelled with the file's place.
  static std::vector<std::pair<std::string, std::string>> cifar10() {
    const std::string image(3 * 32 * 32, '\0');
    std::vector<std::pair<std::string, std::string>> files;
    for (char i = 1; i <= 5; ++i) {
      files.emplace_back("cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin",
                         std::string(1, i) + image);
    }
    files.emplace_back("cifar-10-batches-bin/test_batch.bin", std::string(1, 9) + image);
    return files;
  }
  DatasetJob job(const std::string& name, const std::string& dir) const {
    DatasetJob job;
    job.name = name;
    job.dir = dir;
    return job;
  }
};

TEST_F(Load, CifarIsFoundAsArchiveAndAsFolder) {
  const std::string archive = tar_gz_file("cifar-10-binary.tar.gz", cifar10());
  for (const std::string& dir : {folder_, archive}) {
    const DatasetSummary summary = check_dataset(job("cifar10", dir));
    EXPECT_EQ(summary.train_samples, 5);
    EXPECT_EQ(summary.classes, 10);
    EXPECT_THAT(summary.shape, ElementsAre(3, 32, 32));
    EXPECT_THAT(summary.files, ElementsAre(archive));
  }
  for (const auto& [name, bytes] : cifar10()) file(name, bytes);
  const std::string unpacked = folder_ + "/cifar-10-batches-bin";
  for (const std::string& dir : {folder_, unpacked}) {
    const DatasetSummary summary = check_dataset(job("cifar10", dir));
    ASSERT_EQ(summary.files.size(), 6U);
    EXPECT_EQ(summary.files.front(), unpacked + "/data_batch_1.bin");
  }
  DatasetJob limited = job("cifar10", folder_);
  limited.limit_train = 2;
  EXPECT_THAT(load_images(limited).train.labels, ElementsAre(1, 2));
}

TEST_F(Load, CifarThatIsNotHereSaysHowToGetIt) {
  const std::string message = failure([&] { check_dataset(job("cifar100", folder_)); });
  EXPECT_THAT(message, HasSubstr(folder_ + "/cifar100"));
  EXPECT_THAT(message, HasSubstr("cifar-100-binary.tar.gz"));
}

// torchvision.datasets.CIFAR10(root) leaves pickles.
TEST_F(Load, CifarForPythonIsNamed) {
  std::filesystem::create_directories(folder_ + "/cifar-10-batches-py");
  for (const std::string& dir : {folder_, folder_ + "/cifar-10-batches-py"}) {
    const std::string message = failure([&] { check_dataset(job("cifar10", dir)); });
    EXPECT_THAT(message, HasSubstr("cifar-10-batches-py' is the version for Python")) << dir;
    EXPECT_THAT(message, HasSubstr("cifar-10-binary.tar.gz"));
  }
}

// torchvision.datasets.MNIST(root) leaves the files in root/MNIST/raw.
TEST_F(Load, FoldersOfTorchvisionAreFound) {
  const std::string raw = folder_ + "/FashionMNIST/raw";
  std::filesystem::create_directories(raw);
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte.gz"}) {
    file(std::string("FashionMNIST/raw/") + name, "x");
  }
  for (const std::string& dir : {folder_, folder_ + "/FashionMNIST", raw}) {
    const auto files = find_idx_files("fashion-mnist", dir);
    ASSERT_TRUE(files) << dir;
    EXPECT_THAT(files->test_labels, HasSubstr("FashionMNIST/raw/t10k-labels-idx1-ubyte.gz"));
  }
  EXPECT_FALSE(find_idx_files("mnist", folder_));
}

// 100 bytes: 90 train, in which 9 sequences of 9 bytes have a byte after them; 10 test.
TEST_F(Load, TextCountsWholeSequences) {
  DatasetJob text = job("text", file("input.txt", std::string(100, 'x')));
  text.context = 9;
  const DatasetSummary summary = check_dataset(text);
  EXPECT_EQ(summary.train_samples, 9);  // (90 - 1) / 9
  EXPECT_EQ(summary.test_samples, 1);
  EXPECT_THAT(summary.shape, ElementsAre(1, 1, 9));
  text.dir = folder_;
  EXPECT_THAT(check_dataset(text).files, ElementsAre(folder_ + "/input.txt"));
  text.limit_train = 2;
  EXPECT_EQ(load_text(text).train.size(), 19U);
  text.limit_train = 10;
  EXPECT_THROW(load_text(text), UsageError);
}

TEST_F(Load, BundleIsAFileOfTorchSave) {
  EXPECT_THAT(check_dataset(job("bundle", file("b.pt", "PK\x03\x04..."))).files,
              ElementsAre(path("b.pt")));
  EXPECT_THAT(failure([&] { check_dataset(job("bundle", file("c.pt", "pickle"))); }),
              HasSubstr("torch.save"));
  EXPECT_THAT(failure([&] { check_dataset(job("bundle", path("missing.pt"))); }),
              HasSubstr("missing.pt"));
  EXPECT_THAT(failure([&] { check_dataset(job("bundle", file("old.pt", "\x80\x02\x8a\nl"))); }),
              testing::AllOf(HasSubstr("before PyTorch 1.6"), HasSubstr("torch.save(torch.load")));
  EXPECT_THAT(failure([&] { check_dataset(job("bundle", "")); }), HasSubstr("--dataset FILE.pt"));
}

}  // namespace
}  // namespace precbench::data::load_test
