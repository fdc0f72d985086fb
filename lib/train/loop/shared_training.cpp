#include "train/loop/shared_training.h"

namespace precbench::train {

SharedTraining::SharedTraining(Ranks& ranks, Model& model, const Optimizer& optimizer)
    : ranks_(ranks) {
  for (const torch::Tensor& buffer : model.buffers()) {
    if (buffer.defined()) buffers_.push_back(buffer);
  }
  std::vector<torch::Tensor> state;
  for (const torch::Tensor& parameter : model.parameters()) state.push_back(parameter.detach());
  state.insert(state.end(), buffers_.begin(), buffers_.end());
  ranks_.take_from_first(state);
  average_ = ranks_.average_gradients(optimizer.parameters());
}

void SharedTraining::before_forward(bool averages) {
  if (averages) average_->before_forward();
  if (syncs_buffers_) ranks_.take_from_first(buffers_);
  syncs_buffers_ = averages;
}

void SharedTraining::after_forward(bool averages) {
  if (averages) average_->after_forward();
}

void SharedTraining::before_evaluation() { ranks_.take_from_first(buffers_); }

void SharedTraining::complete(PassTotals& totals, PassFigures& figures) {
  totals.add_others(ranks_);
  figures.samples *= ranks_.size();
  figures.seconds = ranks_.largest(figures.seconds);
}

}  // namespace precbench::train
