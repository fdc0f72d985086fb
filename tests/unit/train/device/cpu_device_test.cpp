#include "train/device/cpu_device.h"

#include <limits>

#include "../support.h"

namespace precbench::train::cpu_device_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool finds(const torch::Tensor& tensor) {
  CpuDevice device;
  return device.any_non_finite({torch::ones({3}), tensor}).item<float>() != 0;
}

// 67 elements: more than the widest vectors hold, and a rest that fills none.
TEST(AnyNonFinite, SeesOneElementWhereverItIs) {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const double value : {kInfinity, -kInfinity, std::nan("")}) {
      for (const int64_t place : {0, 31, 63, 66}) {
        torch::Tensor tensor = torch::zeros({67}, dtype);
        EXPECT_FALSE(finds(tensor));
        tensor[place] = value;
        EXPECT_TRUE(finds(tensor)) << dtype << " " << value << " at " << place;
      }
    }
  }
}

TEST(AnyNonFinite, TheLargestNumberIsFinite) {
  EXPECT_FALSE(finds(torch::full({67}, 65504.0, at::kHalf)));
  EXPECT_FALSE(finds(torch::full({67}, -std::numeric_limits<float>::max(), at::kFloat)));
  EXPECT_FALSE(finds(torch::full({67}, std::numeric_limits<double>::max(), at::kDouble)));
}

TEST(AnyNonFinite, ReadsWhatIsNotContiguousToo) {
  torch::Tensor tensor = torch::zeros({8, 9});
  tensor.index_put_({7, 8}, kInfinity);
  EXPECT_TRUE(finds(tensor.t()));
  EXPECT_TRUE(finds(tensor.slice(1, 1, 9)));
  EXPECT_FALSE(finds(tensor.slice(1, 0, 8)));
}

}  // namespace
}  // namespace precbench::train::cpu_device_test
