// The cnn: exact bytes, and none that stay.
#include <ATen/core/dispatch/Dispatcher.h>

#include "../support.h"
#include "train/data/data_set.h"
#include "train/loop/training.h"

namespace precbench::train::memory_test {
namespace {

constexpr int64_t kParameters = 421642;
constexpr int64_t kKiB = 1024;

// SGD with momentum: one step and two (the first has no momentum yet); AdamW: two.
struct Peaks {
  int64_t first_step, later_steps, adamw;
};

struct Expected {
  const char* mode;
  int64_t bytes_per_parameter;
  int64_t batch_size;
  // Asks whether oneDNN computes the format here; where it does not, PyTorch converts and keeps
  // both.
  const char* supported;
  Peaks peaks, converted;
  bool takes_scratch;  // oneDNN's own, whose size is another on each processor
};

// KiB over parameters and data, as the memory events of PyTorch's profiler add up in the same steps
// written in Python. float16 has a small batch: some processors that have the format take seconds
// for a backward pass of 128. AdamW has no figure there: its own temporaries would be the peak.
constexpr Expected kExpected[] = {
    {"32-true", 4, 128, nullptr, {42812, 44459, 46106}, {}, true},
    {"16-mixed", 4, 8, "fp16", {3754, 5401, 0}, {3754, 5401, 0}, false},
    {"bf16-mixed", 4, 128, "bf16", {26508, 28155, 29802}, {35168, 36815, 38462}, false},
    {"16-true", 2, 8, "fp16", {2343, 3166, 0}, {2918, 3742, 0}, true},
    {"bf16-true", 2, 128, "bf16", {25685, 26508, 27332}, {34345, 35168, 35992}, false},
    {"64-true", 8, 128, nullptr, {117370, 120664, 123958}, {}, false},
};

// AVX-512 takes 80 KiB in 32-true.
constexpr int64_t kScratchKiB = 400;

bool is_supported(const char* format) {
  const std::string question = std::string("mkldnn::_is_mkldnn_") + format + "_supported";
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(question.c_str(), "")
      .typed<bool()>()
      .call();
}

int64_t peak_kib(const Expected& expected, const std::string& optimizer, int64_t steps) {
  TrainJob job;
  job.mode = expected.mode;
  job.batch_size = expected.batch_size;
  job.dataset.name = "synthetic";
  job.dataset.synthetic_train = expected.batch_size * 2;
  job.dataset.synthetic_test = expected.batch_size / 8;
  job.steps = steps;
  job.keep_going = true;  // Adam's first step in fp16 gives nan; its bytes count all the same
  job.optimizer.name = optimizer;
  if (optimizer == "adamw") job.optimizer.lr = 1e-3;
  at::set_num_threads(1);
  CpuDevice device;
  const TrainResult result = run_train_job(job, device, [](const Event&) {});
  const int64_t bytes =
      *result.run.memory.peak_allocated_bytes - kParameters * expected.bytes_per_parameter;
  return (bytes + kKiB / 2) / kKiB;
}

TEST(PeakMemory, OfTheCnnIsExactInEveryMode) {
  for (const Expected& expected : kExpected) {
    const bool converts = expected.supported != nullptr && !is_supported(expected.supported);
    const Peaks& peaks = converts ? expected.converted : expected.peaks;
    const int64_t first = peak_kib(expected, "sgd", 1);
    const int64_t scratch = expected.takes_scratch ? kScratchKiB : 0;
    EXPECT_LE(std::abs(first - peaks.first_step), scratch) << expected.mode << ": " << first;
    // Scratch memory or not, what the optimizer adds is exact, but for rounding to KiB.
    const int64_t momentum = peak_kib(expected, "sgd", 2) - first;
    EXPECT_LE(std::abs(momentum - (peaks.later_steps - peaks.first_step)), 1)
        << expected.mode << ": " << momentum;
    if (peaks.adamw == 0) continue;
    const int64_t moments = peak_kib(expected, "adamw", 2) - first;
    EXPECT_LE(std::abs(moments - (peaks.adamw - peaks.first_step)), 1)
        << expected.mode << ": " << moments;
  }
}

// Evaluation under autocast once kept a cast of every weight, and its graph (PT#48049).
TEST(PeakMemory, AHundredEvaluationsLeaveNothingBehind) {
  at::set_num_threads(1);
  for (const char* mode : {"32-true", "bf16-mixed"}) {
    TrainJob job = small_job(mode);
    job.model = "mlp";
    const DataSet data = make_synthetic_data_set(job.dataset, job.seed);
    CpuDevice device;
    const auto precision = precision_of(mode);
    const auto model = make_model(job.model, data.shape(), {}, GemmBackend::library_default);
    const auto optimizer = make_optimizer(job.optimizer, model->parameters());
    Loader train(device, data, data.train, SampleOrder::shuffled, 16, at::MemoryFormat::Contiguous);
    Loader test(device, data, data.test, SampleOrder::as_stored, 16, at::MemoryFormat::Contiguous);
    StepLog log(device);
    StepClock clock(device);
    Training training(job, {device, *model, *precision, *optimizer, train, test, log, clock});
    training.evaluate();
    const int64_t before = device.memory().allocated_bytes;
    device.reset_peak_memory();
    training.evaluate();
    const int64_t peak = device.memory().peak_allocated_bytes;
    for (int i = 0; i < 100; ++i) training.evaluate();
    EXPECT_EQ(device.memory().allocated_bytes, before) << mode;
    EXPECT_EQ(device.memory().peak_allocated_bytes, peak) << mode;
  }
}

}  // namespace
}  // namespace precbench::train::memory_test
