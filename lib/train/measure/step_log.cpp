#include "train/measure/step_log.h"

namespace precbench::train {
namespace {

// Steps between two readings at most; 16 KiB on the device.
constexpr int64_t kCapacity = 1024;

enum Field : int64_t { kLoss, kSkipped, kScale, kNonFiniteWeights, kFields };

}  // namespace

StepLog::StepLog(DeviceModule& device)
    : device_(device),
      pending_(torch::zeros({kCapacity, kFields},
                            torch::TensorOptions().device(device.device()).dtype(torch::kFloat))) {}

void StepLog::record(const torch::Tensor& loss, const StepOutcome& outcome,
                     const torch::Tensor& non_finite_weights) {
  torch::NoGradGuard no_grad;
  if (pending_count_ == kCapacity) read_back();
  torch::Tensor row = pending_.select(0, pending_count_++);
  row.select(0, kLoss).copy_(loss);
  row.select(0, kNonFiniteWeights).copy_(non_finite_weights);
  if (outcome.skipped.defined()) {
    row.select(0, kSkipped).copy_(outcome.skipped);
    row.select(0, kScale).copy_(outcome.scale);
  }
}

void StepLog::read_back_if_due() {
  const auto interval = std::chrono::milliseconds(device_.readback_interval_ms());
  if (std::chrono::steady_clock::now() - last_read_ >= interval) read_back();
}

void StepLog::read_back() {
  last_read_ = std::chrono::steady_clock::now();
  if (pending_count_ == 0) return;
  const torch::Tensor rows = pending_.narrow(0, 0, pending_count_).cpu();
  const auto values = rows.accessor<float, 2>();
  for (int64_t i = 0; i < pending_count_; ++i) {
    steps_.push_back({static_cast<double>(values[i][kLoss]), values[i][kSkipped] != 0.0F,
                      static_cast<double>(values[i][kScale]),
                      values[i][kNonFiniteWeights] != 0.0F});
  }
  pending_count_ = 0;
}

}  // namespace precbench::train
