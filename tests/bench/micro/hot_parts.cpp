// Our own parts of a training step, by themselves (Google Benchmark). One thread.
#include <benchmark/benchmark.h>
#include <c10/core/CPUAllocator.h>
#include <fcntl.h>
#include <unistd.h>

#include "step_loop.h"
#include "train/data/loader.h"
#include "train/device/counting_allocator.h"
#include "train/event_stream.h"
#include "train/measure/numeric_health.h"
#include "train/measure/step_clock.h"
#include "train/measure/step_log.h"
#include "train/optim/optimizer.h"
#include "train/precision/grad_scaler.h"

namespace precbench::train {
namespace {

// The default workload's batches: 128 images of 28 x 28 uint8 pixels, gathered and normalised.
void assemble_batch(benchmark::State& state, at::MemoryFormat format) {
  CpuDevice device;
  DatasetJob job;
  job.name = "synthetic";
  const DataSet data = load_data_set(job, 42);
  Loader loader(device, data, data.train, SampleOrder::shuffled, 128, format);
  for (auto _ : state) {
    if (loader.remaining() < 128) loader.start_pass();
    benchmark::DoNotOptimize(loader.next());
  }
}
BENCHMARK_CAPTURE(assemble_batch, contiguous, at::MemoryFormat::Contiguous);
BENCHMARK_CAPTURE(assemble_batch, channels_last, at::MemoryFormat::ChannelsLast);

std::unique_ptr<LoopSetting> mlp_with_gradients() {
  auto setting = make_setting("mlp", 1);
  for (torch::Tensor& parameter : setting->model->parameters()) {
    parameter.mutable_grad() = torch::full_like(parameter, 1e-6);
  }
  return setting;
}

void step_optimizer(benchmark::State& state, const char* name, const char* impl) {
  const auto setting = mlp_with_gradients();
  OptimizerJob job;
  job.name = name;
  job.impl = impl;
  const auto optimizer = make_optimizer(job, setting->model->parameters());
  for (auto _ : state) optimizer->step();
}
BENCHMARK_CAPTURE(step_optimizer, sgd_loop, "sgd", "loop");
BENCHMARK_CAPTURE(step_optimizer, sgd_foreach, "sgd", "foreach");
BENCHMARK_CAPTURE(step_optimizer, sgd_fused, "sgd", "fused");
BENCHMARK_CAPTURE(step_optimizer, adamw_loop, "adamw", "loop");
BENCHMARK_CAPTURE(step_optimizer, adamw_fused, "adamw", "fused");

void step_with_scaler(benchmark::State& state, const char* impl) {
  const auto setting = mlp_with_gradients();
  OptimizerJob job;
  job.impl = impl;
  const auto optimizer = make_optimizer(job, setting->model->parameters());
  const auto precision = make_precision(*find_mode("16-mixed"), at::kCPU);
  precision->scaler()->scale(torch::ones({}));  // makes the scale tensor, as the first loss does
  for (auto _ : state) benchmark::DoNotOptimize(precision->step(*optimizer));
}
BENCHMARK_CAPTURE(step_with_scaler, sgd_loop, "loop");
BENCHMARK_CAPTURE(step_with_scaler, sgd_fused, "fused");

void look_at_weights(benchmark::State& state) {
  const auto setting = make_setting("mlp", 1);
  const std::vector<torch::Tensor> parameters = setting->model->parameters();
  for (auto _ : state) benchmark::DoNotOptimize(setting->device.any_non_finite(parameters));
}
BENCHMARK(look_at_weights);

// Not in every step: in the steps 2, 5, 10, 20, 50, ...
void look_at_numbers(benchmark::State& state) {
  const auto setting = mlp_with_gradients();
  const std::vector<torch::Tensor> parameters = setting->model->parameters();
  NumericHealth health(parameters, at::kFloat);
  int64_t step = 0;
  for (auto _ : state) {
    health.before_step();
    health.after_step(step++, 1.0, false);
  }
}
BENCHMARK(look_at_numbers)->Iterations(20);

void log_step(benchmark::State& state) {
  CpuDevice device;
  StepLog log(device);
  const torch::Tensor loss = torch::ones({});
  const torch::Tensor finite = torch::zeros({});
  for (auto _ : state) {
    log.record(loss, {});
    if (log.is_due()) log.read_back(finite);
  }
}
BENCHMARK(log_step);

void clock_step(benchmark::State& state) {
  CpuDevice device;
  StepClock clock(device);
  clock.begin_pass();
  for (auto _ : state) clock.end_step();
}
BENCHMARK(clock_step);

// A block that malloc serves from its heap, and one that it would map.
void allocate(benchmark::State& state, bool counted) {
  c10::Allocator& allocator = counted ? static_cast<c10::Allocator&>(CountingAllocator::instance())
                                      : *c10::GetDefaultCPUAllocator();
  for (auto _ : state)
    benchmark::DoNotOptimize(allocator.allocate(static_cast<size_t>(state.range(0))));
}
BENCHMARK_CAPTURE(allocate, counted, true)->Arg(64)->Arg(1 << 16);
BENCHMARK_CAPTURE(allocate, default, false)->Arg(64)->Arg(1 << 16);

void send_event(benchmark::State& state) {
  const int out = dup(STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  {
    EventStream stream;
    for (auto _ : state) stream.send(StepsEvent{1, 1, 10, 469, 0.5});
  }
  dup2(out, STDOUT_FILENO);
  close(nowhere);
  close(out);
}
BENCHMARK(send_event);

}  // namespace
}  // namespace precbench::train

int main(int argc, char** argv) {
  at::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
