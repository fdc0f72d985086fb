#include "train/models/initialization.h"

#include <cmath>

#include "train/optim/scalar.h"

namespace precbench::train {

void trunc_normal_(torch::Tensor tensor, double std) {
  constexpr double kCut = 2.0;
  const auto normal_cdf = [](double x) { return (1.0 + std::erf(x / std::sqrt(2.0))) / 2.0; };
  const double low = normal_cdf(-kCut / std), high = normal_cdf(kCut / std);
  torch::NoGradGuard no_grad;
  tensor.uniform_(2 * low - 1, 2 * high - 1);
  tensor.erfinv_();
  multiply_in_place(tensor, std * std::sqrt(2.0));
  tensor.add_(0.0);
  tensor.clamp_(-kCut, kCut);
}

}  // namespace precbench::train
