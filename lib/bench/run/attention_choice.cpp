#include "bench/run/attention_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/plan/resolve_device.h"
#include "bench/platform/verdict.h"
#include "bench/run/ask_worker.h"
#include "common/names.h"
#include "common/printable.h"

namespace precbench {
namespace {

// Few, since large models take seconds for one on a CPU; both computations grow with their number.
constexpr int64_t kSamples = 4;

bool decides_something(const Plan& plan, const DeviceChoice& device,
                       const data::DatasetSummary& data) {
  const ModelTraits* model = find_model(plan.job.model);
  const bool is_known = model != nullptr && model->has_attention && !data.shape.empty();
  return is_known && plan.profile == "tuned" && plan.attention == "auto" && !device.is_cuda();
}

Job question(const Plan& plan, const ModeTraits& mode, const DeviceChoice& device,
             const data::DatasetSummary& data) {
  TrainJob train = job_for(plan, mode, plan.seeds.front(), device.is_cuda());
  train.batch_size = std::min(train.batch_size, kSamples);
  DatasetJob& made_up = train.dataset;  // of the same shape
  made_up.name = "synthetic";
  made_up.dir.clear();
  made_up.limit_train = made_up.limit_test = 0;
  made_up.synthetic_train = made_up.synthetic_test = train.batch_size;
  made_up.synthetic_shape = data.shape;
  made_up.synthetic_classes = data.classes;
  Job job = job_on(device, plan, std::move(train));
  job.kind = JobKind::attention;
  return job;
}

std::string found(const ModeTraits& mode, const AttentionTimes& times, bool by_math) {
  const char* product = "separate products";
  const char* kernel = "PyTorch's own kernel";
  return fmt::format(
      "{} attention by {}: {:.1f} ms for {} samples here, {:.1f} by {}", name_of(mode.compute),
      by_math ? product : kernel, 1e3 * (by_math ? times.by_math : times.by_default), kSamples,
      1e3 * (by_math ? times.by_default : times.by_math), by_math ? kernel : product);
}

}  // namespace

std::vector<std::string> measure_attention(Plan& plan, const DeviceChoice& device,
                                           const data::DatasetSummary& data, JobRunner& runner) {
  std::vector<std::string> told;
  if (!decides_something(plan, device, data)) return told;
  for (const ModeTraits* mode : plan.modes) {
    const bool is_native = verdict(*mode, device.facts).verdict == "native";
    if (!is_native || plan.attention_times.contains(mode->compute)) continue;
    const JobOutcome outcome =
        ask_worker(question(plan, *mode, device, data), {plan.timeout_s}, runner, "the first run");
    std::string reason = outcome.reason.value_or("the worker did not answer");
    try {
      if (outcome.result) {
        const ObjectReader times(outcome.result->facts, "");
        plan.attention_times[mode->compute] = {times.required<double>("default_s"),
                                               times.required<double>("math_s")};
        const TrainJob job = job_for(plan, *mode, plan.seeds.front(), device.is_cuda());
        told.push_back(found(*mode, plan.attention_times[mode->compute], job.attention == "math"));
        continue;
      }
    } catch (const JsonFieldError& error) {
      reason = error.what();
    }
    told.push_back(
        fmt::format("{} attention by PyTorch's own kernel: others could not be measured: {}",
                    name_of(mode->compute), printable(reason)));
  }
  return told;
}

}  // namespace precbench
