#include "bench/run/attention_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/plan/resolve_device.h"
#include "bench/platform/verdict.h"
#include "bench/worker/ask_worker.h"
#include "common/names.h"
#include "common/printable.h"

namespace precbench {
namespace {

// Few, since large models take seconds for one on a CPU; both computations grow with their number.
constexpr int64_t kSamples = 4;

// One of each format. In the others nobody trains for speed.
constexpr std::array<const char*, 3> kMeasuredModes = {"32-true", "16-mixed", "bf16-mixed"};

bool decides_something(const Plan& plan, const DeviceChoice& device) {
  const ModelTraits* model = find_model(plan.job.model);
  const bool has_attention = model != nullptr && model->has_attention;
  return has_attention && plan.profile == "tuned" && plan.job.attention == "auto" &&
         !device.is_cuda();
}

int64_t samples_of(const Plan& plan) { return std::min(plan.job.batch_size, kSamples); }

Job question(const Plan& plan, const ModeTraits& mode, const DeviceChoice& device,
             const data::DatasetSummary& data) {
  TrainJob train = job_for(plan, mode, plan.seeds.front(), device.is_cuda());
  train.batch_size = samples_of(plan);
  // No more than that is read, where it is known how many there are.
  train.dataset.limit_train = std::min(data.train_samples, train.batch_size);
  train.dataset.limit_test = std::min(data.test_samples, train.batch_size);
  Job job = job_on(device, plan, std::move(train));
  job.kind = JobKind::attention;
  return job;
}

std::string found(const Plan& plan, const ModeTraits& mode) {
  const AttentionTimes& times = plan.attention_times.at(mode.compute);
  const bool by_math = attention_for(plan, mode.compute) == "math";
  const char* product = "separate products";
  const char* kernel = "PyTorch's own kernel";
  return fmt::format("{} attention by {}: {:.1f} ms for {} samples here, {:.1f} by {}",
                     name_of(mode.compute), by_math ? product : kernel,
                     1e3 * (by_math ? times.by_math : times.by_default), samples_of(plan),
                     1e3 * (by_math ? times.by_default : times.by_math),
                     by_math ? kernel : product);
}

}  // namespace

std::vector<std::string> measure_attention(Plan& plan, const DeviceChoice& device,
                                           const data::DatasetSummary& data, JobRunner& runner) {
  std::vector<std::string> told;
  if (!decides_something(plan, device)) return told;
  for (const char* name : kMeasuredModes) {
    const ModeTraits* mode = find_mode(name);
    if (verdict(*mode, device.facts).verdict != SupportLevel::native) continue;
    const JobOutcome outcome =
        ask_worker(question(plan, *mode, device, data), {plan.timeout_s}, runner, "the first run");
    std::string reason = outcome.reason.value_or("the worker did not answer");
    try {
      if (outcome.result) {
        const ObjectReader times(outcome.result->facts, "");
        plan.attention_times[mode->compute] = {times.required<double>("default_s"),
                                               times.required<double>("math_s")};
        told.push_back(found(plan, *mode));
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
