#include "bench/plan/resolve_device.h"

#include "common/errors.h"
#include "common/names.h"

namespace precbench {
namespace {

bool fused_is_correct(const Plan& plan, const ModeTraits& mode, bool is_cuda) {
  const bool is_half = mode.parameters == Dtype::float16 || mode.parameters == Dtype::bfloat16;
  return is_cuda || plan.job.optimizer.name != "sgd" || !is_half;
}

// Python's optimizers default to foreach on CUDA and to the single-tensor loop on CPUs, never to
// fused; a CUDA graph needs the fused one.
std::string implementation(const Plan& plan, const ModeTraits& mode, bool is_cuda) {
  const std::string& asked = plan.job.optimizer.impl;
  if (asked != "auto") return asked;
  if (is_cuda && plan.job.cuda_graph) return "fused";
  if (plan.profile == "tuned" && fused_is_correct(plan, mode, is_cuda)) return "fused";
  return is_cuda ? "foreach" : "loop";
}

// oneDNN's sums are not PyTorch's own in their last bits, so its product has to be worth it; and
// where the two are close, the choice would differ from one comparison to the next. On an EPYC the
// factor is 2: MKL, which PyTorch's x86 wheels multiply with, takes a slow path there.
constexpr double kWorthAnotherProduct = 1.1;

std::string faster_gemm(Plan& plan, const MeasureGemm& measure) {
  try {
    plan.gemm_rates = measure();
  } catch (const DeviceError& error) {
    plan.gemm_rates_unknown = error.what();
    return "default";
  }
  const GemmRates& rates = *plan.gemm_rates;
  const bool is_worth_it = rates.onednn && *rates.onednn > kWorthAnotherProduct * rates.by_default;
  return is_worth_it ? "onednn" : "default";
}

// Separate products take more memory, so they have to be worth it, too. On an EPYC's two cores they
// are in bfloat16, by a factor of 1.5 of the whole step; in float32 the two are alike.
constexpr double kWorthOtherAttention = 1.1;

}  // namespace

void resolve_for_device(Plan& plan, bool is_cuda, const MeasureGemm& measure) {
  const bool is_tuned = plan.profile == "tuned";
  const ModelTraits* model = find_model(plan.job.model);
  const bool is_convolutional = model != nullptr && model->is_convolutional;
  if (plan.job.memory_format == "auto") {
    plan.job.memory_format = is_tuned && is_convolutional ? "channels_last" : "contiguous";
  }
  if (plan.job.gemm == "auto") {
    plan.job.gemm = is_tuned && !is_cuda ? faster_gemm(plan, measure) : "default";
  }
  plan.job.tuned_malloc = is_tuned && !is_cuda;
}

std::string attention_for(const Plan& plan, Dtype compute) {
  if (plan.job.attention != "auto") return plan.job.attention;
  const auto found = plan.attention_times.find(compute);
  if (found == plan.attention_times.end()) return "default";
  const AttentionTimes& times = found->second;
  return times.by_default > kWorthOtherAttention * times.by_math ? "math" : "default";
}

TrainJob job_for(const Plan& plan, const ModeTraits& mode, uint32_t seed, bool is_cuda) {
  TrainJob job = plan.job;
  job.mode = mode.name;
  job.seed = seed;
  job.optimizer.impl = implementation(plan, mode, is_cuda);
  job.attention = attention_for(plan, mode.compute);
  return job;
}

TrainJob job_for(const Plan& plan, const PlannedRow& row, uint32_t seed, bool is_cuda) {
  TrainJob job = job_for(plan, *row.mode, seed, is_cuda);
  job.engine = row.engine;
  if (const auto own = plan.batches.find(row.name()); own != plan.batches.end()) {
    job.batch_size = own->second.batch_size;
    job.optimizer.lr = own->second.lr;
  }
  if (row.engine == kFabricEngine) {
    job.gemm = TrainJob().gemm;
    job.tuned_malloc = false;
  } else {
    job.compile = false;
  }
  return job;
}

}  // namespace precbench
