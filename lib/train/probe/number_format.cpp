#include "train/probe/number_format.h"

#include <cmath>

namespace precbench::train {
namespace {

// Of the powers of two that a double holds.
constexpr int kLowestExponent = -1074;
constexpr int kHighestExponent = 1023;

// One operation in the format: values that a cast alone would keep go through the arithmetic.
torch::Tensor computed(const torch::Tensor& values, at::ScalarType type) {
  return values.to(type).mul(torch::ones({}, values.options().dtype(type)));
}

torch::Tensor back(const torch::Tensor& values) { return values.cpu().to(torch::kDouble); }

torch::Tensor powers_of_two(torch::Device device) {
  const torch::Tensor exponents =
      torch::arange(kLowestExponent, kHighestExponent + 1, torch::kDouble);
  return torch::exp2(exponents).to(device);
}

// Distance from 1 to the next number.
double epsilon_of(torch::Device device, at::ScalarType type) {
  const auto options = torch::TensorOptions().device(device).dtype(type);
  const torch::Tensor one = torch::ones({}, options);
  double epsilon = 1;
  for (double step = 0.5; step > 0; step /= 2) {
    const torch::Tensor sum = one + torch::full({}, step, options);
    if (back(sum).item<double>() == 1.0) break;
    epsilon = step;
  }
  return epsilon;
}

// The largest error of 256 sums of 4,096 positive products, in ulps of the result. Rounded once
// from a wider sum it is at most half a unit (and half again for the element's place between two
// powers of two).
double gemm_error_ulp(torch::Device device, at::ScalarType type, double epsilon) {
  constexpr int64_t kSize = 16;
  constexpr int64_t kTerms = 4096;
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(1);
  const torch::Tensor left = torch::rand({kSize, kTerms}, generator, torch::kDouble).to(type);
  const torch::Tensor right = torch::rand({kTerms, kSize}, generator, torch::kDouble).to(type);
  const torch::Tensor exact = left.to(torch::kDouble).mm(right.to(torch::kDouble));
  const torch::Tensor got = back(left.to(device).mm(right.to(device)));
  const torch::Tensor unit = torch::exp2(exact.log2().floor()).mul(epsilon);
  return got.sub(exact).abs().div(unit).max().item<double>();
}

}  // namespace

json number_properties(torch::Device device, at::ScalarType type) {
  json found = {{"unknown", json::object()}};
  const torch::Tensor powers = powers_of_two(device);
  const torch::Tensor exact = back(powers);
  const torch::Tensor kept = back(computed(powers, type));
  // Powers of two are in a format or are not: what comes back changed is beyond it.
  const torch::Tensor held = exact.masked_select(kept.eq(exact).logical_and(kept.gt(0)));
  const double epsilon = epsilon_of(device, type);
  const double highest_power = held.max().item<double>();
  const double max = (2 - epsilon) * highest_power;
  const auto options = torch::TensorOptions().device(device).dtype(torch::kDouble);
  const torch::Tensor largest = torch::full({}, max, options).to(type);
  const double beyond = back(largest + largest).item<double>();
  found["max"] = max;
  found["epsilon"] = epsilon;
  found["overflow"] = std::isinf(beyond) ? "inf" : std::isnan(beyond) ? "nan" : "max";
  // An IEEE-like format has its smallest normal number at 2^(2 - largest exponent).
  const double smallest_normal = 2 / highest_power;
  found["smallest_normal"] = smallest_normal;
  const double smallest = held.min().item<double>();
  found["flushes_subnormals"] = smallest >= smallest_normal;
  if (smallest < smallest_normal) {
    found["smallest_subnormal"] = smallest;
  } else {
    found["smallest_subnormal"] = nullptr;
    found["unknown"]["smallest_subnormal"] = "they are flushed to zero";
  }
  if (type == at::kDouble) {
    found["gemm_error_ulp"] = found["gemm_accumulates"] = nullptr;
    found["unknown"]["gemm_error_ulp"] = found["unknown"]["gemm_accumulates"] =
        "there is no wider format to compare with";
    return found;
  }
  constexpr double kRoundedOnce = 0.5 * (1 + 1e-3);  // and the wider sum's own error
  const double error = gemm_error_ulp(device, type, epsilon);
  found["gemm_error_ulp"] = error;
  found["gemm_accumulates"] = error <= kRoundedOnce ? "wider" : "same";
  return found;
}

}  // namespace precbench::train
