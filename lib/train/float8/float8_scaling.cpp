#include "train/float8/float8_scaling.h"

#include <cmath>
#include <limits>

namespace precbench::train {
namespace {

torch::Tensor amax_of(const torch::Tensor& value) {
  return value.abs().amax().to(torch::kFloat).view({1});
}

void add_to(torch::Tensor& sum, const torch::Tensor& part) {
  if (sum.defined()) {
    sum.add_(part);
  } else {
    sum = part;
  }
}

}  // namespace

at::ScalarType scalar_type(Float8Format format) {
  return format == Float8Format::e4m3 ? at::kFloat8_e4m3fn : at::kFloat8_e5m2;
}

double largest(Float8Format format) { return format == Float8Format::e4m3 ? 448.0 : 57344.0; }

double smallest_subnormal(Float8Format format) {
  return format == Float8Format::e4m3 ? 0x1p-9 : 0x1p-16;
}

torch::Tensor scale_for(const torch::Tensor& amax, const torch::Tensor& previous,
                        Float8Format format, int64_t margin) {
  const double range = largest(format);
  torch::Tensor scale = (torch::full_like(amax, range) / amax) / std::exp2(margin);
  scale = torch::where(amax.gt(0.0).logical_and(amax.isfinite()), scale, previous);
  return torch::where(scale.isinf(), torch::full_like(scale, std::numeric_limits<float>::max()),
                      scale);
}

Float8Scaling::Float8Scaling(Float8Format format, const Float8Job& recipe)
    : format_(format), recipe_(recipe), scale_(torch::ones({1}, torch::kFloat)) {
  if (recipe.recipe == "delayed") history_ = torch::zeros({recipe.history}, torch::kFloat);
}

Float8Tensor Float8Scaling::quantize(const torch::Tensor& value, bool records) {
  torch::NoGradGuard no_grad;
  torch::Tensor scale = scale_;
  if (!is_delayed()) {
    const torch::Tensor amax = amax_of(value);
    scale = scale_for(amax, torch::ones_like(amax), format_, /*margin=*/0);
    if (records) {
      scale_.copy_(scale);
      last_amax_ = amax;
    }
  } else if (records) {
    torch::Tensor running = history_.narrow(0, 0, 1);
    running.copy_(torch::maximum(running, amax_of(value)));
    recorded_ = true;
  }
  const double range = largest(format_);
  torch::Tensor scaled = value.to(torch::kFloat).mul(scale);
  if (counts_on_) count_extremes(value, scaled);
  scaled = torch::where(value.isfinite(), scaled.clamp(-range, range), value);
  return {scaled.to(scalar_type(format_)), scale.reciprocal()};
}

// Half of the smallest subnormal and below rounds to zero (ties to even).
void Float8Scaling::count_extremes(const torch::Tensor& value, const torch::Tensor& scaled) {
  const torch::Tensor size = scaled.abs();
  counts_.elements += value.numel();
  add_to(counts_.clipped, size.gt(largest(format_)).logical_and(value.isfinite()).sum());
  add_to(counts_.flushed, size.le(smallest_subnormal(format_) / 2).logical_and(value.ne(0)).sum());
}

void Float8Scaling::update() {
  if (!recorded_) return;
  recorded_ = false;
  torch::NoGradGuard no_grad;
  const torch::Tensor amax =
      recipe_.amax == "max" ? history_.amax().view({1}) : history_.narrow(0, 0, 1).clone();
  last_amax_ = amax;
  if (history_.size(0) > 1) history_.copy_(torch::roll(history_, -1));
  history_.narrow(0, 0, 1).zero_();
  scale_.copy_(scale_for(amax, scale_, format_, recipe_.margin));
}

void Float8Scaling::exchange(RunState& state, const std::string& name) {
  const torch::Device device = scale_.device();
  state.tensor(name + ".last_amax", last_amax_, device);
  state.tensor(name + ".clipped", counts_.clipped, device);
  state.tensor(name + ".flushed", counts_.flushed, device);
  state.value(name + ".elements", counts_.elements);
}

double Float8Scaling::amax() const { return last_amax_.defined() ? last_amax_.item<float>() : 0.0; }

}  // namespace precbench::train
