// Loss scaling, which LibTorch has no class for: torch.amp.GradScaler on the public ATen kernels,
// with its states, its errors and its arithmetic (torch/amp/grad_scaler.py).
#pragma once

#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "train/base/torch.h"
#include "train/optim/optimizer.h"

namespace precbench::train {

// PyTorch's defaults; 2^16 is the scale's start there too.
inline constexpr double kInitialScale = 65536.0;
inline constexpr double kGrowthFactor = 2.0;
inline constexpr double kBackoffFactor = 0.5;
inline constexpr int64_t kGrowthInterval = 2000;

// A call out of order, with PyTorch's text.
class GradScalerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct GradScalerState {
  double scale = kInitialScale;
  double growth_factor = kGrowthFactor;
  double backoff_factor = kBackoffFactor;
  int64_t growth_interval = kGrowthInterval;
  int64_t growth_tracker = 0;
};

class GradScaler {
 public:
  // Throws std::invalid_argument unless growth_factor > 1 and backoff_factor < 1.
  explicit GradScaler(const GradScalerState& state = {});

  // loss * scale. The scale is made on the loss's device at the first call.
  torch::Tensor scale(const torch::Tensor& loss);

  // Divides the gradients by the scale and notes whether one was not finite. Throws GradScalerError
  // when it was called since the last update(), after step(), and for fp16 gradients.
  void unscale(Optimizer& optimizer);

  // Unscales unless done, then steps the optimizer unless a gradient was not finite. Returns 1
  // where the step was skipped, else 0 (a float32 scalar on the gradients' device). A fused
  // optimizer decides inside its kernel, without a synchronisation. Throws GradScalerError when
  // called twice since the last update() and when no parameter has a gradient.
  torch::Tensor step(Optimizer& optimizer);

  // Halves the scale after a skipped step, doubles it after growth_interval clean ones.
  void update();

  double current_scale() const;               // synchronises
  const torch::Tensor& scale_tensor() const;  // undefined before the first scale()
  GradScalerState state() const;
  void load_state(const GradScalerState& state);

 private:
  enum class Stage { ready, unscaled, stepped };
  struct OptimizerState {
    Stage stage = Stage::ready;
    torch::Tensor found_inf;  // undefined until gradients were checked
  };

  void require_scale(const char* caller) const;
  static torch::Tensor check_and_multiply(Optimizer& optimizer, const torch::Tensor& factor,
                                          bool allow_fp16);

  GradScalerState state_;
  torch::Tensor scale_, growth_tracker_;
  std::unordered_map<const Optimizer*, OptimizerState> optimizers_;
};

}  // namespace precbench::train
