// That Python reads these files, and that Python's are read, is checked by
// tests/parity/weights_check.py.
#include "train/loop/weights.h"

#include <gmock/gmock.h>

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
