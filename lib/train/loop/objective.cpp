#include "train/loop/objective.h"

#include <sstream>
#include <stdexcept>

namespace precbench::train {
namespace {

torch::Tensor zero_on(const DeviceModule& device, at::ScalarType type) {
  return torch::zeros({}, torch::TensorOptions().device(device.device()).dtype(type));
}

}  // namespace

void check_logits(const torch::Tensor& logits, const torch::Tensor& target, int64_t classes) {
  const int64_t rank = target.dim() + 1;
  const bool has_row_for_each =
      logits.dim() == rank && logits.sizes().slice(0, target.dim()) == target.sizes();
  if (!has_row_for_each) {
    std::ostringstream message;
    message << "the model returns " << logits.sizes() << " for targets of the shape "
            << target.sizes() << "; it has to return logits "
            << (rank == 2 ? "[samples, classes]" : "[samples, tokens, classes]");
    throw std::invalid_argument(message.str());
  }
  if (logits.size(-1) < classes) {
    throw std::invalid_argument("the model has " + std::to_string(logits.size(-1)) +
                                " outputs, the data have " + std::to_string(classes) +
                                " classes (0 to " + std::to_string(classes - 1) +
                                "): give the model an output for each, or check the targets");
  }
  if (!logits.is_floating_point()) {
    throw std::invalid_argument("the model returns whole numbers; it has to return logits");
  }
}

torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& target,
                            double label_smoothing) {
  const bool per_token = target.dim() > 1;
  return at::cross_entropy_loss(per_token ? logits.flatten(0, 1) : logits, target.flatten(),
                                /*weight=*/{}, at::Reduction::Mean, /*ignore_index=*/-100,
                                label_smoothing);
}

PassTotals::PassTotals(const DeviceModule& device, bool sums_losses)
    : correct_(zero_on(device, torch::kLong)) {
  if (sums_losses) loss_sum_ = zero_on(device, torch::kDouble);
}

void PassTotals::clear() {
  correct_.zero_();
  if (loss_sum_.defined()) loss_sum_.zero_();
}

void PassTotals::exchange(RunState& state) {
  state.tensor("pass.correct", correct_);
  state.tensor("pass.loss_sum", loss_sum_);
}

void PassTotals::add_loss(const torch::Tensor& mean, int64_t samples) {
  if (loss_sum_.defined()) loss_sum_.add_(mean.detach(), static_cast<double>(samples));
}

void PassTotals::add_correct(const torch::Tensor& logits, const torch::Tensor& target) {
  correct_.add_(logits.detach().argmax(-1).eq(target).sum());
}

void PassTotals::add_others(Ranks& ranks) {
  ranks.sum(correct_);
  if (loss_sum_.defined()) ranks.sum(loss_sum_);
}

double PassTotals::accuracy(int64_t targets) const {
  return static_cast<double>(correct_.item<int64_t>()) / static_cast<double>(targets);
}

double PassTotals::mean_loss(int64_t samples) const {
  return loss_sum_.item<double>() / static_cast<double>(samples);
}

double mean_loss(const std::vector<StepRecord>& steps, size_t first,
                 const std::vector<int64_t>& samples) {
  double sum = 0, all = 0;
  for (size_t i = first; i < steps.size(); ++i) {
    const auto weight = static_cast<double>(samples[i - first]);
    sum += steps[i].loss * weight;
    all += weight;
  }
  return sum / all;
}

}  // namespace precbench::train
