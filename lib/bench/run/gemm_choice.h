// What the profile `tuned` chooses the fp32 matrix product by: a short measurement on this machine.
#pragma once

#include "bench/plan/plan.h"
#include "bench/worker/job_runner.h"

namespace precbench {

// From the kept probes where this machine and LibTorch were measured before (on a busy machine too:
// the two products take turns, so that others slow both), else by one worker,
// which takes about a second. Throws DeviceError when that does not come to its end, UserError when
// it is interrupted.
GemmRates measure_gemm(const Plan& plan, JobRunner& runner);

// "fp32 linear layers by oneDNN: 0.45 TFLOP/s here, 0.21 by PyTorch's default"; empty where nothing
// was measured.
std::string gemm_note(const Plan& plan);

}  // namespace precbench
