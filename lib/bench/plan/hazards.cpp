#include "bench/plan/hazards.h"

#include <fmt/format.h>

#include "bench/plan/resolve_device.h"
#include "common/names.h"
#include "common/vanishing_eps.h"

namespace precbench {
namespace {

std::string eps_hazard(const TrainJob& job, const ModeTraits& mode) {
  const OptimizerJob& optimizer = job.optimizer;
  if (!eps_vanishes(mode, optimizer)) return "";
  return fmt::format(
      "eps {:g} is 0 in float16: in {} {} ({}) divides by zero where a squared gradient vanishes.\n"
      "         --optimizer-impl fused computes in float32; a larger eps helps too, --eps 1e-4.",
      optimizer.eps, mode.name, optimizer.name, optimizer.impl);
}

// A model without such layers trains as if FP8 were not there.
std::string float8_hazard(const TrainJob& job, const ModeTraits& mode, bool is_cuda) {
  if (mode.family != PrecisionFamily::transformer_engine) return "";
  const ModelTraits& model = *find_model(job.model);
  if (job.model == kPython) return "";
  if (!model.has_float8_layers) {
    const std::string why = job.model == kScriptModel
                                ? "the layers of a TorchScript module cannot be replaced"
                                : "its only Linear layer is the head";
    return fmt::format("no layer of {} runs in FP8 ({}): {} computes in {} throughout", job.model,
                       why, mode.name, name_of(mode.parameters));
  }
  if (!is_cuda || job.batch_size % kFloat8Multiple == 0) return "";
  return fmt::format("batch size {} is no multiple of {}: FP8 products are padded with zeros",
                     job.batch_size, kFloat8Multiple);
}

}  // namespace

std::vector<std::string> hazards(const Plan& plan, bool is_cuda, const std::string& tf32_override) {
  std::vector<std::string> found;
  bool is_reduced = false;
  for (const ModeTraits* mode : plan.modes) {
    const TrainJob job = job_for(plan, *mode, plan.seeds.front(), is_cuda);
    const std::string eps = eps_hazard(job, *mode);
    if (!eps.empty()) found.push_back(eps);
    const std::string float8 = float8_hazard(job, *mode, is_cuda);
    if (!float8.empty()) found.push_back(float8);
    is_reduced |= mode->compute == Dtype::float16 || mode->compute == Dtype::bfloat16;
  }
  if (is_cuda && is_reduced && plan.job.batch_size % kTensorCoreMultiple != 0) {
    found.push_back(fmt::format(
        "batch size {} is no multiple of {}: tensor cores run 16-bit formats slower then",
        plan.job.batch_size, kTensorCoreMultiple));
  }
  if (is_cuda && !tf32_override.empty()) {
    found.push_back("NVIDIA_TF32_OVERRIDE=" + tf32_override +
                    " is set: it decides about TF32 whatever --tf32 and the mode say");
  }
  return found;
}

}  // namespace precbench
