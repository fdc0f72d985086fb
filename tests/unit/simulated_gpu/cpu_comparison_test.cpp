// The simulated card against real training on the CPU, byte by byte: the same jobs, with the
// counting allocator as the measure, for every kind of model. What CPU and card do differently is
// switched off one by one, and each switch is shown to be what makes the difference.
#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>
#include <ATen/autocast_mode.h>

#include <array>
#include <optional>

#include "support.h"
#include "train/data/data_set.h"
#include "train/device/cpu_device.h"
#include "train/loop/run_setup.h"
#include "train/loop/training.h"

namespace precbench::train::simulated::cpu_comparison_test {
namespace {

// Bytes asked for, without rounding.
struct Meter {
  std::function<int64_t()> current, peak;
  std::function<void()> reset;
};

Meter cpu_meter() {
  CountingAllocator& allocator = CountingAllocator::instance();
  return {[&] { return allocator.current(); }, [&] { return allocator.peak(); },
          [&] { allocator.reset_peak(); }};
}

Meter card_meter() {
  return {[] { return gpu().memory().stats().requested; },
          [] { return gpu().memory().stats().peak_requested; },
          [] { gpu().memory().reset_peak(); }};
}

// The peak of a few training steps above what was there before the model.
int64_t training_peak(const TrainJob& job, DeviceModule& device, const Meter& meter) {
  const ModeTraits& mode = *find_mode(job.mode);
  apply_numeric_settings(job, mode, device);
  const DataSet data = placed(load_data_set(job.dataset, job.seed), device);
  Loader train(device, data, data.train, SampleOrder::shuffled, job.batch_size, memory_format(job));
  Loader test(device, data, data.test, SampleOrder::as_stored, job.batch_size, memory_format(job));
  StepLog log(device);
  const int64_t before = meter.current();
  const auto precision = make_precision(mode, device.device().type());
  const auto model = build_model(job, data.shape(), *precision, device);
  const auto optimizer = make_optimizer(job.optimizer, model->parameters());
  StepClock clock(device);
  Training training(job, {device, *model, *precision, *optimizer, train, test, log, clock});
  meter.reset();
  training.train_epoch(1);
  return meter.peak() - before;
}

// cuBLAS's workspaces, which the CPU has not.
class WithoutMatrixWorkspace {
 public:
  WithoutMatrixWorkspace() { gpu().set_matrix_workspace(false); }
  ~WithoutMatrixWorkspace() { gpu().set_matrix_workspace(true); }
};

// oneDNN takes scratch memory for convolutions and products; LibTorch's own kernels run instead.
class WithoutOneDnn {
 public:
  WithoutOneDnn() { at::globalContext().setUserEnabledMkldnn(false); }
  ~WithoutOneDnn() { at::globalContext().setUserEnabledMkldnn(true); }
};

// The fused attention kernels of CPU and CUDA keep different things. The switch is the process's:
// whoever uses this puts it back with use_math_attention(false).
TrainJob without_fused_attention(TrainJob job) {
  job.attention = "math";
  return job;
}

using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

at::Tensor convolution_alone(const at::Tensor& input, const at::Tensor& weight,
                             at::IntArrayRef kernel, const std::optional<at::Tensor>& /*bias*/,
                             at::IntArrayRef stride, at::IntArrayRef padding) {
  std::vector<int64_t> sizes = {input.size(0), weight.size(0)};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t extent = input.size(static_cast<int64_t>(i) + 2);
    sizes.push_back((extent + 2 * padding[i] - kernel[i]) / stride[i] + 1);
  }
  return at::zeros(sizes, input.options());
}

Gradients convolution_gradients_alone(const at::Tensor& gradient, const at::Tensor& input,
                                      const at::Tensor& weight, at::IntArrayRef /*kernel*/,
                                      at::IntArrayRef /*stride*/, at::IntArrayRef /*padding*/,
                                      std::array<bool, 3> mask) {
  Gradients results;
  auto& [of_input, of_weight, of_bias] = results;
  if (mask[0]) of_input = at::zeros(input.sizes(), input.options());
  if (mask[1]) of_weight = at::zeros(weight.sizes(), weight.options());
  if (mask[2]) of_bias = at::zeros({gradient.size(1)}, weight.options());
  return results;
}

// The CPU's convolution copies the patches of the whole batch into columns for one matrix product
// (aten/src/ATen/native/ConvolutionMM2d.cpp, compute_columns2d). Kernels that make their results
// alone take its place.
class WithoutColumns {
 public:
  WithoutColumns() {
    library_.impl("_slow_conv2d_forward", &convolution_alone);
    library_.impl("_slow_conv2d_backward.output_mask", &convolution_gradients_alone);
  }

 private:
  torch::Library library_{torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__};
};

at::Tensor sum_alone(const at::Tensor& a, const at::Tensor& b, const at::Scalar& /*alpha*/) {
  return at::zeros(at::infer_size(a.sizes(), b.sizes()), a.options().dtype(at::result_type(a, b)));
}

// A sum of float32 and bf16 casts the bf16 operand into a tensor of its own on the CPU; CUDA's
// kernels cast while they load (aten/src/ATen/TensorIterator.cpp, compute_types).
class WithoutOperandCasts {
 public:
  WithoutOperandCasts() { library_.impl("add.Tensor", &sum_alone); }

 private:
  torch::Library library_{torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__};
};

struct Peaks {
  int64_t cpu = 0, card = 0;
};

Peaks peaks_of(const TrainJob& job) {
  at::set_num_threads(1);
  Peaks peaks;
  CpuDevice cpu;
  peaks.cpu = training_peak(job, cpu, cpu_meter());
  auto device = card("a100");
  peaks.card = training_peak(job, device, card_meter());
  return peaks;
}

std::string described(const TrainJob& job, const Peaks& peaks) {
  return job.model + " " + job.mode + " " + job.optimizer.name + " batch " +
         std::to_string(job.batch_size) + ": cpu " + std::to_string(peaks.cpu) + ", card " +
         std::to_string(peaks.card) + ", difference " + std::to_string(peaks.card - peaks.cpu);
}

// Without oneDNN products of bf16 are slow: the transformers are small ones.
TrainJob job_of(const std::string& model, const std::string& mode, const std::string& optimizer,
                int64_t batch_size) {
  TrainJob job = small_job(mode, model);
  job.optimizer.name = optimizer;
  job.optimizer.impl = "loop";  // foreach is another algorithm on CUDA
  job.batch_size = batch_size;
  if (model != "mlp") job.dataset.synthetic_shape = {3, 32, 32};
  if (model == "vit_tiny") job.model_options = {{"dim", 48}, {"depth", 2}};
  if (model == "gpt") {
    job.dataset.context = 16;
    job.model_options = {{"layers", 2}, {"heads", 2}, {"width", 32}};
  }
  job.dataset.synthetic_train = 3 * batch_size;
  job.dataset.synthetic_test = batch_size;
  return job;
}

// Adam's step makes three float32 scalars (a step count and two bias corrections) that lie in the
// host's memory beside a card, too: where the step is the peak, the CPU counts them.
int64_t host_scalar_bytes(const TrainJob& job) {
  if (job.optimizer.name != "adamw") return 0;
  auto device = card("a100");
  const json breakdown = run_on(device, job).run.memory.breakdown;
  return breakdown.at("peak").at("phase") == "step" ? 3 * 4 : 0;
}

// Everything that CPU and card do differently is off.
struct AllAlike {
  WithoutMatrixWorkspace workspace;
  WithoutOneDnn onednn;
  WithoutColumns columns;
  WithoutOperandCasts casts;
};

using Case = std::tuple<const char*, const char*, const char*>;  // model, mode, optimizer

class CardAndCpu : public testing::TestWithParam<Case> {
 protected:
  void TearDown() override { use_math_attention(false); }
};

TEST_P(CardAndCpu, TakeTheSame) {
  const auto& [model, mode, optimizer] = GetParam();
  const AllAlike alike;
  for (const int64_t batch_size : {4, 12}) {
    const TrainJob job = without_fused_attention(job_of(model, mode, optimizer, batch_size));
    const Peaks peaks = peaks_of(job);
    EXPECT_EQ(peaks.card, peaks.cpu - host_scalar_bytes(job)) << described(job, peaks);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, CardAndCpu,
    testing::Combine(testing::Values("mlp", "cnn", "resnet18", "vit_tiny", "gpt"),
                     testing::Values("32-true", "bf16-mixed"), testing::Values("sgd", "adamw")),
    [](const auto& info) {
      std::string name = std::get<0>(info.param) + std::string("_") + std::get<1>(info.param) +
                         "_" + std::get<2>(info.param);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

// One after the other, each cause is left on alone: then there is a difference, and its direction
// is the one that the cause explains.

// aten/src/ATen/cuda/CUDABlasHandlePool.cpp: 8.125 MiB for each of two threads before Hopper.
TEST(CardAndCpuCauses, MatrixWorkspace) {
  const TrainJob job = job_of("mlp", "32-true", "sgd", 4);
  const WithoutOneDnn onednn;
  const Peaks peaks = peaks_of(job);
  EXPECT_EQ(peaks.card - peaks.cpu, 2 * (8192 + 128) * 1024) << described(job, peaks);
}

TEST(CardAndCpuCauses, OneDnn) {
  const TrainJob job = job_of("resnet18", "32-true", "sgd", 12);
  const WithoutMatrixWorkspace workspace;
  const Peaks peaks = peaks_of(job);
  EXPECT_GT(peaks.cpu, peaks.card) << described(job, peaks);
}

TEST(CardAndCpuCauses, FusedAttention) {
  const TrainJob job = job_of("vit_tiny", "32-true", "sgd", 4);
  const WithoutMatrixWorkspace workspace;
  const WithoutOneDnn onednn;
  const WithoutColumns columns;
  const Peaks peaks = peaks_of(job);
  EXPECT_NE(peaks.card, peaks.cpu) << described(job, peaks);
}

TEST(CardAndCpuCauses, Columns) {
  const WithoutMatrixWorkspace workspace;
  const WithoutOneDnn onednn;
  for (const char* model : {"cnn", "resnet18"}) {
    const TrainJob job = job_of(model, "32-true", "sgd", 12);
    const Peaks peaks = peaks_of(job);
    EXPECT_GT(peaks.cpu, peaks.card) << described(job, peaks);
  }
}

// In so wide a network the peak is in the forward pass, in the sum of the residual stream.
TEST(CardAndCpuCauses, OperandCasts) {
  const WithoutMatrixWorkspace workspace;
  const WithoutOneDnn onednn;
  const WithoutColumns columns;
  TrainJob job = without_fused_attention(job_of("vit_tiny", "bf16-mixed", "sgd", 6));
  job.model_options = {{"dim", 192}, {"depth", 2}};
  const Peaks with = peaks_of(job);
  EXPECT_GT(with.cpu, with.card) << described(job, with);
  const WithoutOperandCasts casts;
  const Peaks without = peaks_of(job);
  EXPECT_EQ(without.cpu, without.card) << described(job, without);
  use_math_attention(false);
}

// Each of these mistakes would be seen.
TEST(CardAndCpuControls, DifferWhereTheAutocastCacheIsNotCleared) {
  const TrainJob job = job_of("mlp", "bf16-mixed", "sgd", 16);
  const AllAlike alike;
  const Peaks right = peaks_of(job);
  ASSERT_EQ(right.card, right.cpu);
  at::autocast::increment_nesting();  // as if an outer region kept the cache
  auto device = card("a100");
  const int64_t kept = training_peak(job, device, card_meter());
  at::autocast::decrement_nesting();
  at::autocast::clear_cache();
  EXPECT_NE(kept, right.cpu);
}

TEST(CardAndCpuControls, DifferWhereTheDataSetIsCounted) {
  const TrainJob job = job_of("mlp", "32-true", "sgd", 16);
  const AllAlike alike;
  const Peaks right = peaks_of(job);
  ASSERT_EQ(right.card, right.cpu);
  auto device = card("a100");
  Meter with_data = card_meter();
  with_data.current = [] { return int64_t{0}; };
  EXPECT_NE(training_peak(job, device, with_data), right.cpu);
}

}  // namespace
}  // namespace precbench::train::simulated::cpu_comparison_test
