// What GradScaler calls (aten/src/ATen/native/cuda/AmpKernels.cu), with the few values that are
// known: so an infinity that was put into a gradient makes the scaler skip a step, as it would.
#include <cmath>

#include "train/simulated_gpu/kernels/kernels.h"
#include "train/simulated_gpu/kernels/traced.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

bool holds_non_finite(const at::Tensor& tensor) {
  bool found = false;
  gpu().values().for_each(address_of(tensor), tensor.numel() * tensor.element_size(),
                          [&](uint64_t, double value) { found |= !std::isfinite(value); });
  return found;
}

void check_and_unscale(at::TensorList gradients, at::Tensor& found_inf,
                       const at::Tensor& /*inverse_scale*/) {
  launch("aten::_amp_foreach_non_finite_check_and_unscale_", gradients.vec(), gradients.vec());
  for (const at::Tensor& gradient : gradients) {
    if (holds_non_finite(gradient)) gpu().values().set(address_of(found_inf), 1.0);
  }
}

at::Tensor& update_scale(at::Tensor& scale, at::Tensor& growth_tracker, const at::Tensor& found_inf,
                         double growth, double backoff, int64_t interval) {
  launch("aten::_amp_update_scale_", {scale, growth_tracker, found_inf}, {scale, growth_tracker});
  KnownValues& values = gpu().values();
  const auto current = values.at(address_of(scale));
  if (!current) return scale;
  if (values.at(address_of(found_inf)).value_or(0.0) != 0.0) {
    values.set(address_of(scale), *current * backoff);
    values.set(address_of(growth_tracker), 0.0);
    return scale;
  }
  const double successful = values.at(address_of(growth_tracker)).value_or(0.0) + 1;
  const bool grows = successful == static_cast<double>(interval);
  if (grows) values.set(address_of(scale), *current * growth);
  values.set(address_of(growth_tracker), grows ? 0.0 : successful);
  return scale;
}

}  // namespace

void register_amp_kernels(torch::Library& library) {
  library.impl("_amp_foreach_non_finite_check_and_unscale_", &check_and_unscale);
  library.impl("_amp_update_scale_", &update_scale);
}

}  // namespace precbench::train::simulated
