// The cnn at batch 128: exact bytes, and none that stay.
#include <ATen/core/dispatch/Dispatcher.h>

#include "../support.h"
#include "train/loop/data_set.h"
#include "train/loop/training.h"

namespace precbench::train::memory_test {
namespace {

constexpr int64_t kParameters = 421642;
constexpr int64_t kKiB = 1024;
// The normalised float32 batch, which a Fabric user's loop holds while the model works on its cast.
constexpr int64_t kBatchKiB = 128 * 28 * 28 * 4 / kKiB;

struct Expected {
  const char* mode;
  int64_t bytes_per_parameter;
  // Whether oneDNN computes the mode's format on this processor: PyTorch converts where it does
  // not, and keeps both.
  const char* supported;
  int64_t first_step;  // KiB over parameters and data where it does
  int64_t converted;   // and where it does not
  int64_t state_kib;   // one copy of the parameters in the optimizer's format
  bool takes_scratch;  // oneDNN's own, whose size is another on each processor
};

// Peaks of the first step of an independent LibTorch program with two threads, which dropped the
// float32 batch after its cast; kept, as PyTorch's own allocator shows for a Python loop, it adds
// kBatchKiB in the modes that cast. SGD's momentum comes with the second step, AdamW has two copies
// from the first.
constexpr int64_t kFloat32KiB = 1647, kFloat64KiB = 3294;
constexpr Expected kExpected[] = {
    {"32-true", 4, nullptr, 42892, 42892, kFloat32KiB, true},
    {"16-mixed", 4, "mkldnn::_is_mkldnn_fp16_supported", 26116 + kBatchKiB, 34776 + kBatchKiB,
     kFloat32KiB, false},
    {"bf16-mixed", 4, "mkldnn::_is_mkldnn_bf16_supported", 26116 + kBatchKiB, 34776 + kBatchKiB,
     kFloat32KiB, false},
    {"16-true", 2, "mkldnn::_is_mkldnn_fp16_supported", 25293 + kBatchKiB, 33953 + kBatchKiB,
     kFloat32KiB / 2, false},
    {"bf16-true", 2, "mkldnn::_is_mkldnn_bf16_supported", 25293 + kBatchKiB, 33953 + kBatchKiB,
     kFloat32KiB / 2, false},
    {"64-true", 8, nullptr, 116978 + kBatchKiB, 116978 + kBatchKiB, kFloat64KiB, false},
};

// oneDNN's float32 backward pass takes up to this for two threads (80 KiB less without AVX-512).
constexpr int64_t kScratchKiB = 400;

bool is_supported(const char* question) {
  if (question == nullptr) return true;
  return c10::Dispatcher::singleton().findSchemaOrThrow(question, "").typed<bool()>().call();
}

int64_t peak_kib(const Expected& expected, const std::string& optimizer, int64_t steps) {
  TrainJob job;
  job.mode = expected.mode;
  job.dataset.name = "synthetic";
  job.dataset.synthetic_train = 128 * 2;
  job.dataset.synthetic_test = 16;
  job.steps = steps;
  job.keep_going = true;  // Adam's first step in fp16 gives nan; its bytes count all the same
  job.optimizer.name = optimizer;
  if (optimizer == "adamw") job.optimizer.lr = 1e-3;
  at::set_num_threads(expected.takes_scratch ? 2 : 1);
  CpuDevice device;
  const TrainResult result = run_train_job(job, device, [](const Event&) {});
  const int64_t bytes =
      *result.run.memory.peak_allocated_bytes - kParameters * expected.bytes_per_parameter;
  return (bytes + kKiB / 2) / kKiB;
}

TEST(PeakMemory, OfTheCnnIsExactInEveryMode) {
  for (const Expected& expected : kExpected) {
    const int64_t first =
        is_supported(expected.supported) ? expected.first_step : expected.converted;
    const int64_t measured = peak_kib(expected, "sgd", 1);
    if (expected.takes_scratch) {
      EXPECT_NEAR(measured, first, kScratchKiB) << expected.mode;
    } else {
      EXPECT_EQ(measured, first) << expected.mode;
    }
    // On every processor, but for rounding to KiB.
    EXPECT_NEAR(peak_kib(expected, "sgd", 2) - measured, expected.state_kib, 1) << expected.mode;
    EXPECT_NEAR(peak_kib(expected, "adamw", 2) - measured, 2 * expected.state_kib, 1)
        << expected.mode;
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
    Training training(job, {device, *model, *precision, *optimizer, train, test, log},
                      [](const Event&) {});
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
