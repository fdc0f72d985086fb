// That Python reads these files, and that Python's are read, is checked by
// tests/parity/weights_check.py.
#include "train/loop/weights.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "../../temporary.h"
#include "common/errors.h"

namespace precbench::train::weights_test {
namespace {

using testing::HasSubstr;

class Weights : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  std::string error_of_loading_into(torch::nn::Module& module) const {
    try {
      load_weights(module, path_);
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }

  std::string path_ = precbench::temporary_path("weights.pt");
};

TEST_F(Weights, ComeBackWithBuffersAndIntegerBuffers) {
  torch::nn::BatchNorm1d saved(3), loaded(3);
  saved->running_mean.fill_(0.25);
  saved->num_batches_tracked.fill_(2049);  // no bf16 holds it
  torch::nn::init::normal_(saved->weight);
  save_weights(*saved, path_);
  load_weights(*loaded, path_);
  EXPECT_TRUE(loaded->weight.equal(saved->weight));
  EXPECT_TRUE(loaded->running_mean.equal(saved->running_mean));
  EXPECT_EQ(loaded->num_batches_tracked.item<int64_t>(), 2049);
}

TEST_F(Weights, AreConvertedToTheDtypeOfTheModel) {
  torch::nn::Linear saved(2, 2), loaded(2, 2);
  saved->weight.data().fill_(1.0 / 3.0);
  for (torch::Tensor& parameter : loaded->parameters()) {
    parameter.set_data(parameter.to(torch::kBFloat16));
  }
  save_weights(*saved, path_);
  load_weights(*loaded, path_);
  EXPECT_EQ(loaded->weight.scalar_type(), torch::kBFloat16);
  EXPECT_EQ(loaded->weight[0][0].item<float>(), 0.333984375F);  // 1/3 to 8 bits
}

TEST_F(Weights, OfAnotherModelAreRefusedByName) {
  save_weights(*torch::nn::Linear(2, 3), path_);
  torch::nn::Linear wider(4, 3), no_bias(torch::nn::LinearOptions(2, 3).bias(false));
  const torch::Tensor before = wider->weight.detach().clone();
  EXPECT_THAT(error_of_loading_into(*wider),
              HasSubstr("weight: the file has [3, 2], the model [3, 4]"));
  EXPECT_TRUE(wider->weight.equal(before));
  EXPECT_THAT(error_of_loading_into(*no_bias), HasSubstr("not in the model: bias"));
  torch::nn::BatchNorm1d other(3);
  EXPECT_THAT(error_of_loading_into(*other), HasSubstr("missing: running_mean [3]"));
}

// A disk that is full after 4 KiB.
TEST_F(Weights, ThatCannotBeWrittenWholeLeaveTheEarlierFile) {
  torch::nn::Linear earlier(2, 2), large(100, 100);
  save_weights(*earlier, path_);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(save_weights(*large, path_), FileError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  torch::nn::Linear loaded(2, 2);
  load_weights(*loaded, path_);
  EXPECT_TRUE(loaded->weight.equal(earlier->weight));
}

TEST_F(Weights, ReplaceTheFileBehindALink) {
  const std::string link = precbench::temporary_path("link.pt");
  std::filesystem::create_symlink(path_, link);
  save_weights(*torch::nn::Linear(2, 2), link);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_regular_file(path_));
  std::filesystem::remove(link);
}

TEST_F(Weights, ThatADeviceRefusesAreTold) {
  EXPECT_THROW(save_weights(*torch::nn::Linear(2, 2), "/dev/full"), FileError);
}

TEST_F(Weights, ThatAreNoStateDictionaryAreRefused) {
  torch::nn::Linear linear(2, 2);
  EXPECT_THAT(error_of_loading_into(*linear), HasSubstr("cannot read"));
  std::ofstream(path_) << "not a zip archive";
  EXPECT_THAT(error_of_loading_into(*linear), HasSubstr("is not a dictionary of tensors"));
}

TEST_F(Weights, RefuseAFolderThatIsNotThere) {
  EXPECT_THROW(save_weights(*torch::nn::Linear(1, 1), "/nowhere/at/all.pt"), FileError);
  EXPECT_THROW(require_writable("/nowhere/at/all.pt"), FileError);
}

}  // namespace
}  // namespace precbench::train::weights_test
