#include "train/probe/attention_times.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "train/data/data_set.h"
#include "train/data/loader.h"
#include "train/loop/run_setup.h"

namespace precbench::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

json attention_times(const TrainJob& job, DeviceModule& device, double seconds) {
  const ModeTraits& mode = effective_mode(job, device);
  apply_numeric_settings(job, mode, device);
  const DataSet data = placed(load_data_set(job.dataset, job.seed), device);
  const auto precision =
      make_precision(mode, device.device().type(), {job.fp8, float8_kernel(device)});
  const auto model = build_model(job, data.shape(), *precision, device);
  Loader loader(device, data, data.train, SampleOrder::as_stored, job.batch_size,
                memory_format(job));
  loader.start_pass();
  const Batch batch = loader.next();
  const auto time_of = [&](bool by_math) {
    use_math_attention(by_math);
    for (torch::Tensor& parameter : model->parameters()) parameter.mutable_grad().reset();
    const auto begin = Clock::now();
    precision->backward(precision->forward(*model, batch.input).sum());
    device.synchronize();
    return seconds_since(begin);
  };
  time_of(false);
  time_of(true);
  std::vector<double> by_default, by_math;
  const auto begin = Clock::now();
  do {
    by_default.push_back(time_of(false));
    by_math.push_back(time_of(true));
  } while (seconds_since(begin) < seconds);
  use_math_attention(false);
  return {{"default_s", middle(by_default)},
          {"math_s", middle(by_math)},
          {"samples", by_default.size()}};
}

}  // namespace precbench::train
