#include "train/measure/numeric_health.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "train/device/counting_allocator.h"

namespace precbench::train {
namespace {

constexpr std::array<const char*, 4> kFigures = {"zero_gradient_share", "subnormal_gradient_share",
                                                 "unmoved_weight_share", "update_to_weight_ratio"};

// Elements looked at at once: what that takes is small beside any model.
constexpr int64_t kPart = 1 << 16;

double smallest_normal_of(at::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return 0x1p-14;  // IEEE 754 binary16
    case at::kDouble:
      return std::numeric_limits<double>::min();
    default:
      return std::numeric_limits<float>::min();  // bfloat16 has float32's exponents
  }
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

int64_t count(const torch::Tensor& mask) { return mask.sum().item<int64_t>(); }

double squared_norm(const torch::Tensor& tensor) {
  return tensor.to(torch::kDouble).square().sum().item<double>();
}

}  // namespace

NumericHealth::NumericHealth(const std::vector<torch::Tensor>& parameters, at::ScalarType compute)
    : parameters_(parameters), smallest_normal_(smallest_normal_of(compute)) {}

bool NumericHealth::wants(int64_t step) {
  for (int64_t power = 1; power <= step; power *= 10) {
    if (step == 2 * power || step == 5 * power || (step == power && power > 1)) return true;
  }
  return false;
}

void NumericHealth::before_step() {
  torch::NoGradGuard no_grad;
  const CountingAllocator::Uncounted uncounted;
  before_.clear();
  try {
    copy_weights();
  } catch (const c10::OutOfMemoryError&) {  // looking on must not be what breaks a run
    before_.clear();
  }
}

void NumericHealth::copy_weights() {
  for (const torch::Tensor& parameter : parameters_) {
    before_.push_back(parameter.detach().to(torch::kCPU, parameter.scalar_type(),
                                            /*non_blocking=*/false, /*copy=*/true));
  }
}

void NumericHealth::after_step(int64_t step, double scale, bool skipped) {
  torch::NoGradGuard no_grad;
  const CountingAllocator::Uncounted uncounted;
  if (before_.empty()) return;
  int64_t gradients = 0;
  int64_t zero = 0;
  int64_t subnormal = 0;
  int64_t driven = 0;
  int64_t unmoved = 0;
  double update = 0;
  double weight = 0;
  for (size_t i = 0; i < before_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    const torch::Tensor gradients_here = parameters_[i].grad().cpu().flatten();
    const torch::Tensor now = parameters_[i].detach().cpu().flatten();
    const torch::Tensor then = before_[i].flatten();
    for (int64_t begin = 0; begin < now.numel(); begin += kPart) {
      const int64_t part = std::min(kPart, now.numel() - begin);
      const torch::Tensor size = gradients_here.narrow(0, begin, part).abs();
      const torch::Tensor nonzero = size.gt(0);
      gradients += part;
      zero += count(size.eq(0));
      subnormal += count(nonzero.logical_and(size.lt(smallest_normal_ / scale)));
      if (skipped) continue;
      const torch::Tensor old = then.narrow(0, begin, part);
      const torch::Tensor updated = now.narrow(0, begin, part);
      driven += count(nonzero);
      unmoved += count(nonzero.logical_and(updated.eq(old)));
      update += squared_norm(updated.to(torch::kDouble) - old.to(torch::kDouble));
      weight += squared_norm(old);
    }
  }
  before_.clear();
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? json(static_cast<double>(part) / static_cast<double>(whole)) : json();
  };
  const double ratio = std::sqrt(update) / std::sqrt(weight);
  samples_.push_back(
      {{"step", step},
       {"zero_gradient_share", share(zero, gradients)},
       {"subnormal_gradient_share", share(subnormal, gradients)},
       {"unmoved_weight_share", share(unmoved, driven)},
       {"update_to_weight_ratio", !skipped && std::isfinite(ratio) ? json(ratio) : json()}});
}

json NumericHealth::summary(const std::vector<StepRecord>& steps) const {
  json result = {{"sampled", samples_}, {"unknown", json::object()}};
  for (const char* figure : kFigures) {
    std::vector<double> values;
    for (const json& sample : samples_) {
      if (sample.at(figure).is_number()) values.push_back(sample.at(figure));
    }
    const std::optional<double> middle = median(std::move(values));
    result[figure] = middle ? json(*middle) : json();
    if (!middle) result["unknown"][figure] = "no step that tells it was looked at";
  }
  int64_t non_finite = 0;
  json first = nullptr;
  json scales = json::array();
  double last = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepRecord& step = steps[i];
    if (!std::isfinite(step.loss) || step.skipped || step.non_finite_weights) {
      if (non_finite++ == 0) first = i;
    }
    if (step.scale != last && scales.size() < kScalePoints) scales.push_back({i, step.scale});
    last = step.scale;
  }
  result["non_finite_steps"] = non_finite;
  result["first_non_finite_step"] = first;
  if (first.is_null()) result["unknown"]["first_non_finite_step"] = "every step was finite";
  result["scale"] = scales;
  return result;
}

NumericHealthWatch::NumericHealthWatch(const Optimizer& optimizer, at::ScalarType compute,
                                       Precision& precision, StepClock& clock,
                                       MemoryProfile& memory)
    : health_(optimizer.parameters(), compute),
      precision_(precision),
      clock_(clock),
      memory_(memory) {}

void NumericHealthWatch::before_step(int64_t step) {
  if (!looks_into(step)) return;
  clock_.pause([this] {
    memory_.pause();
    health_.before_step();
    if (Float8Layers* float8 = precision_.float8()) float8->count(true);
    // Reading the scale waits for the device, so it is read in these few steps alone.
    const GradScaler* scaler = precision_.scaler();
    scale_ = scaler != nullptr ? scaler->current_scale() : 1.0;
  });
}

void NumericHealthWatch::after_step(Step& step) {
  if (!looks_into(step.number)) return;
  clock_.pause([&] {
    const torch::Tensor& skipped = step.result.outcome.skipped;
    health_.after_step(step.number, scale_, skipped.defined() && skipped.item<float>() != 0.0F);
    if (Float8Layers* float8 = precision_.float8()) float8->count(false);
    memory_.resume();
  });
}

json NumericHealthWatch::summary(const std::vector<StepRecord>& steps) const {
  json result = health_.summary(steps);
  if (const Float8Layers* float8 = precision_.float8()) result["fp8"] = float8->telemetry();
  return result;
}

}  // namespace precbench::train
