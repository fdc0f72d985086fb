// What "auto" means once the device is known.
#pragma once

#include <string_view>

#include "bench/plan/plan.h"

namespace precbench {

// Fills memory_format, gemm and the malloc settings of the job template. `cpu_vendor` is
// /proc/cpuinfo's vendor_id, empty where there is none (ARM).
void resolve_for_device(Plan& plan, bool is_cuda, std::string_view cpu_vendor);

// The job of one run. The optimizer implementation can differ between modes: at::_fused_sgd_ leaves
// bf16 and fp16 parameters unchanged on CPUs (pytorch#191763).
TrainJob job_for(const Plan& plan, const ModeTraits& mode, uint32_t seed, bool is_cuda);

}  // namespace precbench
