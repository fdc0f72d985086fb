// What training makes small, and what a pass tells of it.
#pragma once

#include <vector>

#include "train/base/run_state.h"
#include "train/base/torch.h"
#include "train/device/device_module.h"
#include "train/measure/step_log.h"
#include "train/parallel/ranks.h"

namespace precbench::train {

// Before the first step: a target that has no logit would be told when it comes, by its number.
// Throws std::invalid_argument.
void check_logits(const torch::Tensor& logits, const torch::Tensor& target, int64_t classes);

// Mean over the targets.
torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& target,
                            double label_smoothing);

// Accuracies are fractions, losses means per sample, times seconds.
struct PassFigures {
  double accuracy = 0, loss = 0, seconds = 0;
  int64_t samples = 0;
};

// Sums over a pass, on the device: nobody waits for them before the pass is over.
class PassTotals {
 public:
  PassTotals(const DeviceModule& device, bool sums_losses);

  void clear();
  void add_loss(const torch::Tensor& mean, int64_t samples);  // where losses are summed
  void add_correct(const torch::Tensor& logits, const torch::Tensor& target);

  // Adds what the other ranks have.
  void add_others(Ranks& ranks);

  void exchange(RunState& state);

  // Both wait for the device.
  double accuracy(int64_t targets) const;
  double mean_loss(int64_t samples) const;

  bool sums_losses() const { return loss_sum_.defined(); }

 private:
  torch::Tensor correct_;   // int64 scalar
  torch::Tensor loss_sum_;  // float64 scalar; undefined: losses are not summed
};

// Over the samples of the steps from `first` on.
double mean_loss(const std::vector<StepRecord>& steps, size_t first,
                 const std::vector<int64_t>& samples);

}  // namespace precbench::train
