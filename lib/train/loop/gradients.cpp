#include "train/loop/gradients.h"

#include <limits>

#include "train/optim/clipping.h"

namespace precbench::train {

void inject_infinity(const Optimizer& optimizer) {
  torch::NoGradGuard no_grad;
  torch::Tensor place = optimizer.first_gradient();  // not view(-1): it may be in channels_last
  while (place.dim() > 0) place = place.select(0, 0);
  place.fill_(std::numeric_limits<double>::infinity());
}

bool clip_gradients(const TrainJob& job, Precision& precision, Optimizer& optimizer) {
  const OptimizerJob& wanted = job.optimizer;
  if (!wanted.clip_norm && !wanted.clip_value) return true;
  precision.unscale_gradients(optimizer);
  const auto& parameters = optimizer.parameters();
  if (wanted.clip_value) clip_gradients_by_value(parameters, *wanted.clip_value);
  if (!wanted.clip_norm) return true;
  // With a scaler an overflow is skipped by its step() and shrinks the scale; an error here would
  // keep it from doing so.
  const bool has_scaler = precision.scaler() != nullptr;
  try {
    clip_gradients_by_norm(parameters, *wanted.clip_norm,
                           /*error_if_nonfinite=*/!has_scaler && !job.keep_going);
  } catch (const NonFiniteNormError&) {
    return false;
  }
  return true;
}

}  // namespace precbench::train
