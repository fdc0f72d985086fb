// What a training step would take on cards that are not here: asked of a worker's simulated devices
// (docs/predict.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/plan/plan.h"
#include "bench/platform/device_facts.h"
#include "bench/text/render_options.h"
#include "bench/worker/job_runner.h"
#include "common/errors.h"

namespace precbench {

struct PredictRequest {
  std::vector<std::string> gpus;  // ids of kGpuCards
  bool find_max_batch = false;
};

// {workload, gpus: [{gpu, name, compute_capability, memory_bytes, context_bytes, modes: [{mode,
// status, reason, support, peak_allocated_bytes, peak_reserved_bytes, split, least_step_ms,
// free_bytes, max_batch_size, time, accuracy, unknown}]}], assumptions}. Throws UsageError for an
// unknown card and UserError (exit code 4) with the worker's reason, which names an operation that
// the simulation does not know.
json predict(const Plan& plan, const PredictRequest& request, JobRunner& runner);

// Peaks of allocated memory by mode, predicted for the card that the plan is going to run on, to
// stand beside what is measured. Empty where there is no prediction: it is an extra.
std::map<std::string, int64_t> predicted_peaks(const Plan& plan, const DeviceFacts& card,
                                               JobRunner& runner);

// "peak memory 5603 MiB, predicted 5601 (-0.0 %)"
std::string beside_measurement(int64_t measured_bytes, int64_t predicted_bytes);

// "a table", "markdown" or "json" of it, as --format says. Throws UsageError for another format.
// Throw UsageError, naming what there is.
void check_gpus(const std::vector<std::string>& gpus);
void check_prediction_format(const std::string& format);

std::string render_prediction(const json& prediction, const std::string& format,
                              const RenderOptions& options = {});

// Exit code: every mode fits, some do, none does.
ExitCode outcome_of_prediction(const json& prediction);

}  // namespace precbench
