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

// A kernel may call others (a CPU computes _scaled_mm with addmm): the outermost one counts.
thread_local int depth = 0;

struct Outermost : at::ObserverContext {};

void note(const at::RecordFunction& function, bool is_batched, double flops) {
  const std::lock_guard lock(observations_mutex);
  observations.flops += flops;
  // What follows the two factors of _scaled_mm are their scales.
  const bool has_scales = std::string_view(function.name()) == "aten::_scaled_mm";
  const auto inputs = has_scales ? function.inputs().slice(0, 2) : function.inputs();
  for (const c10::IValue& input : inputs) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    if (!input.toTensor().is_floating_point()) continue;
    (is_batched ? observations.attention : observations.compute)
        .insert(input.toTensor().scalar_type());
  }
}

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
  const bool is_batched = is_among(kBatchedProducts);
  const bool is_compute = is_among(kComputeOperations);
  if (flops == 0 && !is_batched && !is_compute) return nullptr;
  if (depth++ == 0) {
    if (is_batched || is_compute) {
      note(function, is_batched, flops);
    } else {  // a backward operation: its dtypes are the forward's
      const std::lock_guard lock(observations_mutex);
      observations.flops += flops;
    }
  }
  return std::make_unique<Outermost>();
}

void after_operation(const at::RecordFunction& /*function*/, at::ObserverContext* context) {
  if (context != nullptr) --depth;
}

}  // namespace

DtypeObserver::DtypeObserver(at::DeviceType device) {
  {
    const std::lock_guard lock(observations_mutex);
    observations = {};
    observed_device = device;
  }
  handle_ = at::addGlobalCallback(at::RecordFunctionCallback(on_operation, after_operation)
                                      .needsInputs(true)
                                      .scopes({at::RecordScope::FUNCTION}));
}

DtypeObserver::~DtypeObserver() { at::removeCallback(handle_); }

ObservedDtypes DtypeObserver::observed() const {
  const std::lock_guard lock(observations_mutex);
  return observations;
}

}  // namespace precbench::train
