// How one kind of tensor of one layer (its input, its weight or its output's gradient) becomes FP8:
// which scale it is multiplied with, and how that scale follows the tensor's largest magnitude
// (amax). Two recipes: Transformer Engine's DelayedScaling, which is what Lightning Fabric passes,
// and scaling by the tensor's own amax (Float8CurrentScaling there, dynamic scaling in torchao).
#pragma once

#include "common/job.h"
#include "train/base/run_state.h"
#include "train/base/torch.h"

namespace precbench::train {

// OCP 8-bit Floating Point Specification, 1.0. Weights and activations are e4m3 (3 mantissa bits),
// gradients e5m2 (2 of them, more exponents): Transformer Engine's format HYBRID.
enum class Float8Format { e4m3, e5m2 };

at::ScalarType scalar_type(Float8Format format);
double largest(Float8Format format);             // 448, 57344
double smallest_subnormal(Float8Format format);  // 2^-9, 2^-16

// The value of an element is data * inverse_scale. `inverse_scale`: float32 scalar tensor of shape
// [1], as at::_scaled_mm wants it.
struct Float8Tensor {
  torch::Tensor data, inverse_scale;
};

// Elements of the steps that were looked at. Clipped: finite, beyond the format's largest number.
// Flushed: not zero, but rounded to zero.
struct Float8Counts {
  int64_t elements = 0;
  torch::Tensor clipped, flushed;  // int64 scalars on the device; undefined before the first
};

class Float8Scaling {
 public:
  // Scale 1 and an empty history: so does Transformer Engine begin.
  Float8Scaling(Float8Format format, const Float8Job& recipe);

  // A finite number beyond the format's range becomes its largest one: LibTorch's cast makes NaN
  // (e4m3, above 464) or infinity (e5m2, from 61440) of it. Infinity becomes NaN in e4m3, which has
  // none, and stays in e5m2; NaN stays. `records`: this pass moves the scale, as a training one
  // does and an evaluation does not.
  Float8Tensor quantize(const torch::Tensor& value, bool records);

  // At the end of a pass, once: the scale of the next one. Does nothing unless a tensor was
  // recorded since the last call.
  void update();

  // While on, quantize() counts; costs two more passes over the tensor.
  void count(bool on) { counts_on_ = on; }
  const Float8Counts& counts() const { return counts_; }

  // The state, for the checkpoint: both are float32. The scale has shape [1]; the history has
  // [recipe.history], slot 0 is the running pass, and is undefined where the recipe is dynamic.
  const torch::Tensor& scale() const { return scale_; }
  const torch::Tensor& history() const { return history_; }

  // Between steps; without what is the checkpoint's already.
  void exchange(RunState& state, const std::string& name);

  // The largest amax that the scale answers for: of the history, or of the last tensor. Waits for
  // the device.
  double amax() const;

 private:
  bool is_delayed() const { return history_.defined(); }
  void count_extremes(const torch::Tensor& value, const torch::Tensor& scaled);

  Float8Format format_;
  Float8Job recipe_;
  torch::Tensor scale_, history_;
  torch::Tensor last_amax_;
  bool recorded_ = false, counts_on_ = false;
  Float8Counts counts_;
};

// The scale for tensors of that amax: (largest / amax) / 2^margin; `previous` where amax is zero or
// not finite; FLT_MAX where the quotient overflows (Transformer Engine, _default_sf_compute). All
// are float32 scalar tensors.
torch::Tensor scale_for(const torch::Tensor& amax, const torch::Tensor& previous,
                        Float8Format format, int64_t margin);

}  // namespace precbench::train
