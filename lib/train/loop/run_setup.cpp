#include "train/loop/run_setup.h"

#include <ATen/Context.h>

#include <stdexcept>

#include "train/base/errors.h"
#include "train/data/loader.h"
#include "train/loop/weights.h"
#include "train/models/onednn_linear.h"
#include "train/models/script_model.h"

namespace precbench::train {
namespace {

const ModeTraits& known_mode(const std::string& name) {
  const ModeTraits* mode = find_mode(name);
  if (mode == nullptr) throw std::invalid_argument("mode '" + name + "' is not known");
  return *mode;
}

bool is_at_least(const DeviceModule& device, double capability) {
  const auto has = device.facts().compute_capability;
  return has && std::stod(*has) >= capability;
}

bool has_tf32(const DeviceModule& device) {
  constexpr double kAmpere = 8.0;
  return is_at_least(device, kAmpere);
}

GemmBackend gemm_backend(const TrainJob& job, const DeviceModule& device) {
  if (job.gemm != "onednn") return GemmBackend::library_default;
  if (device.is_cpu() && !has_onednn_linear()) {
    throw UnsupportedError("gemm onednn needs a LibTorch with oneDNN (mkldnn::_linear_pointwise)");
  }
  return GemmBackend::onednn;
}

}  // namespace

const ModeTraits& effective_mode(const TrainJob& job, const DeviceModule& device) {
  const ModeTraits& mode = known_mode(job.mode);
  if (!mode.fabric_on_cpu.empty() && device.is_cpu() && job.cpu_fp16 == "fabric") {
    return known_mode(std::string(mode.fabric_on_cpu));
  }
  if (mode.tf32 && !has_tf32(device)) {
    throw UnsupportedError("TF32 needs a CUDA device from Ampere (8.0) on; this is " +
                           device.facts().name);
  }
  return mode;
}

void use_math_attention(bool on) {
  at::Context& context = at::globalContext();
  context.setSDPUseFlash(!on);
  context.setSDPUseMemEfficient(!on);
  context.setSDPUseCuDNN(!on);
}

void apply_numeric_settings(const TrainJob& job, const ModeTraits& mode, DeviceModule& device) {
  if (mode.tf32 || job.tf32 == "on") {
    device.set_tf32(true, true);
  } else if (job.tf32 == "off") {
    device.set_tf32(false, false);
  }
  use_math_attention(job.attention == "math");
  if (job.deterministic == "on") device.set_deterministic(true);
  if (job.cudnn_benchmark) device.set_cudnn_benchmark(true);
  if (job.cuda_graph) device.prepare_for_graphs();
}

// at::_scaled_mm refuses GPUs before Ada; on a CPU it emulates.
Float8Kernel float8_kernel(const DeviceModule& device) {
  constexpr double kAda = 8.9;
  return device.is_cpu() || is_at_least(device, kAda) ? Float8Kernel::scaled_mm
                                                      : Float8Kernel::emulated;
}

at::MemoryFormat memory_format(const TrainJob& job) {
  return job.memory_format == "channels_last" ? at::MemoryFormat::ChannelsLast
                                              : at::MemoryFormat::Contiguous;
}

std::unique_ptr<Model> build_model(const TrainJob& job, const SampleShape& shape,
                                   Precision& precision, DeviceModule& device) {
  const GemmBackend gemm = gemm_backend(job, device);
  torch::manual_seed(job.seed);
  std::unique_ptr<Model> model;
  {
    const auto weightless = device.weightless_scope();
    const auto scope = job.init == "module" ? precision.init_scope() : nullptr;
    model = job.model_file.empty() ? make_model(job.model, shape, job.model_options, gemm)
                                   : load_script_model(job.model_file);
  }
  if (!job.init_weights.empty()) load_weights(*model, job.init_weights);
  precision.convert_module(*model);
  if (!job.init_weights.empty() && precision.float8() != nullptr) {
    load_float8_state(*model, job.init_weights);
  }
  model->to(device.device());
  torch::NoGradGuard no_grad;
  const at::MemoryFormat format = memory_format(job);
  for (torch::Tensor& parameter : model->parameters()) {
    constexpr int64_t kImageBatchRank = 4;
    // Module::to has no overload for a memory format; as Python's, only 4-D tensors have one.
    if (parameter.dim() == kImageBatchRank) parameter.set_data(in_layout(parameter, format));
  }
  return model;
}

}  // namespace precbench::train
