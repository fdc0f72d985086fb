// What "auto" means once the device is known.
#pragma once

#include <functional>

#include "bench/plan/plan.h"

namespace precbench {

// Measures an fp32 linear layer on the CPU. What goes wrong is a DeviceError, and told in the
// protocol: the comparison goes on with PyTorch's own product.
using MeasureGemm = std::function<GemmRates()>;

// Fills memory_format, gemm and the malloc settings of the job template. `measure` is asked at most
// once, and only where the profile is `tuned`, gemm `auto` and the device the CPU.
void resolve_for_device(Plan& plan, bool is_cuda, const MeasureGemm& measure);

// default | math: what --attention says, else what was measured to be faster in that format.
std::string attention_for(const Plan& plan, Dtype compute);

// The job of one run. The optimizer implementation can differ between modes: at::_fused_sgd_ leaves
// bf16 and fp16 parameters unchanged on CPUs (pytorch#191763). So can the attention.
TrainJob job_for(const Plan& plan, const ModeTraits& mode, uint32_t seed, bool is_cuda);
// The same for the engine of the row: what only the other one has is left out.
TrainJob job_for(const Plan& plan, const PlannedRow& row, uint32_t seed, bool is_cuda);

}  // namespace precbench
