// Whether the numbers of a mode hold up: gradients that became zero or subnormal in its compute
// type, weights that did not move though their gradient is not zero (the stall of bf16-true), and
// the size of an update beside its weights. Looked at in a few steps, outside of what is timed.
#pragma once

#include <vector>

#include "common/json_fields.h"
#include "train/base/torch.h"
#include "train/measure/memory_profile.h"
#include "train/measure/observer.h"
#include "train/measure/step_clock.h"
#include "train/measure/step_log.h"

namespace precbench::train {

class NumericHealth {
 public:
  // Gradients of `compute` are judged; keeps references.
  NumericHealth(const std::vector<torch::Tensor>& parameters, at::ScalarType compute);

  // Steps 2, 5, 10, 20, 50, 100, ... (from 0): early ones and a few later ones. Never the step that
  // MemoryProfile watches.
  static bool wants(int64_t step);

  // Copies the weights to host memory; where that is too small, the step is not looked at.
  void before_step();

  // `scale`: what the gradients were multiplied with when backward made them; 1 without a scaler.
  // They are unscaled by now. A skipped step tells nothing about weights.
  void after_step(int64_t step, double scale, bool skipped);

  // {sampled: [{step, zero_gradient_share, subnormal_gradient_share, unmoved_weight_share,
  // update_to_weight_ratio}], the four as the median over the samples, non_finite_steps,
  // first_non_finite_step, scale: [[step, scale]] where it changed (at most kScalePoints)}.
  // Shares are fractions: of all gradients; unmoved of weights whose gradient is not zero. Figures
  // without a sample are null, with the reason in `unknown`.
  json summary(const std::vector<StepRecord>& steps) const;

  void exchange(RunState& state) { state.value("health.samples", samples_); }

  static constexpr size_t kScalePoints = 200;

 private:
  void copy_weights();

  const std::vector<torch::Tensor>& parameters_;
  double smallest_normal_;
  std::vector<torch::Tensor> before_;
  std::vector<json> samples_;
};

// Looks at the steps that NumericHealth wants. Copying and counting is no part of training: neither
// its time nor its memory counts.
class NumericHealthWatch : public Observer {
 public:
  NumericHealthWatch(const Optimizer& optimizer, at::ScalarType compute, Precision& precision,
                     StepClock& clock, MemoryProfile& memory);

  bool looks_into(int64_t step) const override { return NumericHealth::wants(step); }
  void before_step(int64_t step) override;
  void after_step(Step& step) override;

  void exchange(RunState& state) { health_.exchange(state); }

  // As NumericHealth's, with `fp8` in the modes that have it.
  json summary(const std::vector<StepRecord>& steps) const;

 private:
  NumericHealth health_;
  Precision& precision_;
  StepClock& clock_;
  MemoryProfile& memory_;
  double scale_ = 1;  // of the losses in the step that is looked at
};

}  // namespace precbench::train
