#include "bench/plan/resolve_device.h"

#include "common/names.h"

namespace precbench {
namespace {

bool fused_is_correct(const Plan& plan, const ModeTraits& mode, bool is_cuda) {
  const bool is_half = mode.parameters == Dtype::float16 || mode.parameters == Dtype::bfloat16;
  return is_cuda || plan.job.optimizer.name != "sgd" || !is_half;
}

// Python's optimizers default to foreach on CUDA and to the single-tensor loop on CPUs, never to
// fused.
std::string implementation(const Plan& plan, const ModeTraits& mode, bool is_cuda) {
  if (plan.optimizer_impl != "auto") return plan.optimizer_impl;
  if (plan.profile == "tuned" && fused_is_correct(plan, mode, is_cuda)) return "fused";
  return is_cuda ? "foreach" : "loop";
}

// PyTorch's x86 wheels multiply fp32 matrices with MKL, which takes a slow path on processors that
// are not Intel's: 219 GFLOP/s against oneDNN's 471 in a 2048^3 product on an EPYC with two cores.
// Elsewhere the default stays: Intel has MKL's fast path, ARM another library.
std::string faster_gemm(bool is_cuda, std::string_view cpu_vendor) {
  const bool mkl_is_slow = !cpu_vendor.empty() && cpu_vendor != "GenuineIntel";
  return !is_cuda && mkl_is_slow ? "onednn" : "default";
}

}  // namespace

void resolve_for_device(Plan& plan, bool is_cuda, std::string_view cpu_vendor) {
  const bool is_tuned = plan.profile == "tuned";
  const ModelTraits* model = find_model(plan.job.model);
  const bool is_convolutional = model != nullptr && model->is_convolutional;
  plan.job.memory_format = plan.memory_format != "auto"   ? plan.memory_format
                           : is_tuned && is_convolutional ? "channels_last"
                                                          : "contiguous";
  plan.job.gemm = plan.gemm != "auto" ? plan.gemm
                  : is_tuned          ? faster_gemm(is_cuda, cpu_vendor)
                                      : "default";
  plan.job.tuned_malloc = is_tuned && !is_cuda;
}

TrainJob job_for(const Plan& plan, const ModeTraits& mode, uint32_t seed, bool is_cuda) {
  TrainJob job = plan.job;
  job.mode = mode.name;
  job.seed = seed;
  job.optimizer.impl = implementation(plan, mode, is_cuda);
  return job;
}

}  // namespace precbench
