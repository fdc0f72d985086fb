// The FP8 layers of a model: which ones they are, when their scales move, and what they did.
#pragma once

#include <string>
#include <vector>

#include "common/json_fields.h"
#include "train/base/torch.h"
#include "train/float8/float8_linear.h"

namespace precbench::train {

struct Float8Settings {
  Float8Job recipe;
  Float8Kernel kernel = Float8Kernel::scaled_mm;
};

class Float8Layers {
 public:
  explicit Float8Layers(const Float8Settings& settings) : settings_(settings) {}

  // Gives every Linear below the root whose inputs are divisible by kInputMultiple and outputs by
  // kOutputMultiple an FP8 side, and keeps LayerNorm out of autocast, as Transformer Engine's own
  // computes: float32 inside, the input's dtype outside (Lightning Fabric,
  // TransformerEnginePrecision.convert_module).
  void attach(torch::nn::Module& model);
  static constexpr int64_t kInputMultiple = 8;
  static constexpr int64_t kOutputMultiple = 16;

  // When a forward pass that trains, and a backward pass, are over.
  void end_forward();
  void end_backward();

  // While on, clipped and flushed elements are counted. A pass is slower then.
  void count(bool on);

  // `all_flops`: of the model's matrix products and convolutions in the training step just done.
  void note_step(double all_flops);

  // What the layers did so far. Their scales are the model's buffers.
  void exchange(RunState& state);

  bool empty() const { return layers_.empty(); }

  // For the recipe: {recipe, margin, history, amax, kernel, layers: [name], idle: [name] (attached,
  // but the model never calls them), kept: [{name, in, out}], flop_share, copy_bytes, state_bytes}.
  json report() const;

  // For the numbers: {input|weight|gradient: {smallest_scale, largest_scale, smallest_amax,
  // largest_amax, clipped_share, flushed_share, elements}}; shares are null where nothing was
  // counted. Waits for the device.
  json telemetry() const;

  // Sentences for the user: layers that are kept, a model without any, clipping.
  std::vector<std::string> notes(const std::string& kept_dtype) const;
  static constexpr double kRemarkableClipping = 0.01;

 private:
  struct Attached {
    std::string name;
    Float8Layer layer;
  };
  struct Kept {
    std::string name;
    int64_t in, out;
  };

  bool ran(const Attached& layer) const { return layer.layer->flops > 0; }

  Float8Settings settings_;
  std::vector<Attached> layers_;
  std::vector<Kept> kept_;
  double flop_share_ = 0;
  bool noted_ = false;
};

}  // namespace precbench::train
