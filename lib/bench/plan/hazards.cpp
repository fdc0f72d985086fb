#include "bench/plan/hazards.h"

#include <fmt/format.h>

#include "bench/plan/resolve_device.h"
#include "common/vanishing_eps.h"

namespace precbench {
namespace {

std::string eps_hazard(const TrainJob& job, const ModeTraits& mode) {
  const OptimizerJob& optimizer = job.optimizer;
  if (!eps_vanishes(mode, optimizer)) return "";
  return fmt::format(
      "eps {:g} is 0 in float16: in {} {} ({}) divides by zero where a squared gradient vanishes.\n"
      "         --optimizer-impl fused computes in float32; in your own code a larger eps helps, "
      "such as 1e-4.",
      optimizer.eps, mode.name, optimizer.name, optimizer.impl);
}

}  // namespace

std::vector<std::string> hazards(const Plan& plan, bool is_cuda, const std::string& tf32_override) {
  std::vector<std::string> found;
  bool is_reduced = false;
  for (const ModeTraits* mode : plan.modes) {
    const TrainJob job = job_for(plan, *mode, plan.seeds.front(), is_cuda);
    const std::string eps = eps_hazard(job, *mode);
    if (!eps.empty()) found.push_back(eps);
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
