#include "train/measure/step_log.h"

namespace precbench::train {
namespace {

// Steps between two readings at most; 12 KiB on the device.
constexpr int64_t kCapacity = 1024;

enum Field : int64_t { kLoss, kSkipped, kScale, kFields };

}  // namespace

StepLog::StepLog(DeviceModule& device)
    : device_(device),
      pending_(torch::zeros({kCapacity, kFields},
                            torch::TensorOptions().device(device.device()).dtype(torch::kFloat))) {}

void StepLog::record(const torch::Tensor& loss, const StepOutcome& outcome) {
  torch::NoGradGuard no_grad;
  if (pending_count_ == kCapacity) read_back();
  torch::Tensor row = pending_.select(0, pending_count_++);
  row.select(0, kLoss).copy_(loss);
  if (outcome.skipped.defined()) {
    row.select(0, kSkipped).copy_(outcome.skipped);
    row.select(0, kScale).copy_(outcome.scale);
  }
}

bool StepLog::is_due() const {
  constexpr double kMillisecondsPerSecond = 1e3;
  const double interval_s =
      static_cast<double>(device_.readback_interval_ms()) / kMillisecondsPerSecond;
  return pending_count_ == kCapacity || device_.host_seconds() - last_read_s_ >= interval_s;
}

void StepLog::read_back(const torch::Tensor& non_finite_weights) {
  last_read_s_ = device_.host_seconds();
  if (pending_count_ == 0) return;
  const torch::Tensor rows = pending_.narrow(0, 0, pending_count_).cpu();
  const auto values = rows.accessor<float, 2>();
  for (int64_t i = 0; i < pending_count_; ++i) {
    steps_.push_back({static_cast<double>(values[i][kLoss]), values[i][kSkipped] != 0.0F,
                      static_cast<double>(values[i][kScale])});
  }
  if (non_finite_weights.defined()) {
    steps_.back().non_finite_weights = non_finite_weights.item<float>() != 0.0F;
  }
  pending_count_ = 0;
}

void StepLog::exchange(RunState& state) {
  std::vector<double> loss, skipped, scale, non_finite;
  for (const StepRecord& step : steps_) {
    loss.push_back(step.loss);
    skipped.push_back(step.skipped ? 1 : 0);
    scale.push_back(step.scale);
    non_finite.push_back(step.non_finite_weights ? 1 : 0);
  }
  state.numbers("log.loss", loss);
  state.numbers("log.skipped", skipped);
  state.numbers("log.scale", scale);
  state.numbers("log.non_finite_weights", non_finite);
  if (!state.restores()) return;
  steps_.clear();
  for (size_t i = 0; i < loss.size(); ++i) {
    steps_.push_back({loss[i], skipped.at(i) != 0, scale.at(i), non_finite.at(i) != 0});
  }
}

}  // namespace precbench::train
