#include "train/precision/mixed_precision.h"

#include "train/base/dtypes.h"

namespace precbench::train {

MixedPrecision::MixedPrecision(const ModeTraits& mode, at::DeviceType device)
    : device_(device), dtype_(scalar_type(mode.compute)) {
  if (mode.grad_scaler) scaler_.emplace();
}

// Fabric casts the inputs itself; plain autocast would leave the first layer to it.
torch::Tensor MixedPrecision::convert_input(const torch::Tensor& input) const {
  return convert_floating(input, dtype_);
}

std::unique_ptr<ForwardScope> MixedPrecision::forward_scope() const {
  return std::make_unique<AutocastScope>(device_, dtype_);
}

torch::Tensor MixedPrecision::convert_output(const torch::Tensor& output) const {
  return convert_floating(output, c10::typeMetaToScalarType(torch::get_default_dtype()));
}

void MixedPrecision::backward(const torch::Tensor& loss) {
  (scaler_ ? scaler_->scale(loss) : loss).backward();
}

void MixedPrecision::unscale_gradients(Optimizer& optimizer) {
  if (scaler_) scaler_->unscale(optimizer);
}

StepOutcome MixedPrecision::step(Optimizer& optimizer) {
  if (!scaler_) return Precision::step(optimizer);
  StepOutcome outcome;
  outcome.skipped = scaler_->step(optimizer);
  scaler_->update();
  outcome.scale = scaler_->scale_tensor();
  return outcome;
}

}  // namespace precbench::train
