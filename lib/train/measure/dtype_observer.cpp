#include "train/measure/dtype_observer.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

#include "train/measure/flops.h"

namespace precbench::train {
namespace {

// The operations below autocast and autograd, so that what is seen is what the kernels get.
constexpr std::array<std::string_view, 9> kComputeOperations = {
    "aten::_convolution",
    "aten::addmm",
    "aten::mm",
    "aten::_scaled_mm",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_cudnn_attention",
    "mkldnn::_linear_pointwise"};

constexpr std::array<std::string_view, 2> kBatchedProducts = {"aten::bmm", "aten::baddbmm"};

// Callbacks are plain functions: the observations of the one observer at a time live here.
std::mutex observations_mutex;
ObservedDtypes observations;
at::DeviceType observed_device;

std::unique_ptr<at::ObserverContext> on_operation(const at::RecordFunction& function) {
  if (at::autocast::is_autocast_enabled(observed_device)) {
    const std::lock_guard lock(observations_mutex);
    observations.autocast = at::autocast::get_autocast_dtype(observed_device);
  }
  const std::string_view name = function.name();
  const auto is_among = [name](const auto& operations) {
    return std::find(operations.begin(), operations.end(), name) != operations.end();
  };
  const double flops = operation_flops(name, function.inputs());
  if (flops > 0) {
    const std::lock_guard lock(observations_mutex);
    observations.flops += flops;
  }
  const bool is_batched = is_among(kBatchedProducts);
  if (!is_batched && !is_among(kComputeOperations)) return nullptr;
  const std::lock_guard lock(observations_mutex);
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    if (!input.toTensor().is_floating_point()) continue;
    (is_batched ? observations.attention : observations.compute)
        .insert(input.toTensor().scalar_type());
  }
  return nullptr;
}

}  // namespace

DtypeObserver::DtypeObserver(at::DeviceType device) {
  {
    const std::lock_guard lock(observations_mutex);
    observations = {};
    observed_device = device;
  }
  handle_ = at::addGlobalCallback(at::RecordFunctionCallback(on_operation)
                                      .needsInputs(true)
                                      .scopes({at::RecordScope::FUNCTION}));
}

DtypeObserver::~DtypeObserver() { at::removeCallback(handle_); }

ObservedDtypes DtypeObserver::observed() const {
  const std::lock_guard lock(observations_mutex);
  return observations;
}

}  // namespace precbench::train
