#include "train/loop/shared_training.h"

namespace precbench::train {
namespace {

Compression compression_of(const std::string& name) {
  return name == "fp16"   ? Compression::fp16
         : name == "bf16" ? Compression::bf16
                          : Compression::none;
}

}  // namespace

SharedTraining::SharedTraining(Ranks& ranks, Model& model, const Optimizer& optimizer,
                               const std::string& compression)
    : ranks_(ranks) {
  for (const torch::Tensor& buffer : model.buffers()) {
    if (buffer.defined()) buffers_.push_back(buffer);
  }
  std::vector<torch::Tensor> state;
  for (const torch::Tensor& parameter : model.parameters()) state.push_back(parameter.detach());
  state.insert(state.end(), buffers_.begin(), buffers_.end());
  ranks_.take_from_first(state);
  const Compression how = compression_of(compression);
  average_ = ranks_.average_gradients(optimizer.parameters(), how);
  for (const torch::Tensor& parameter : optimizer.parameters()) {
    constexpr int64_t kHalf = 2;  // bytes
    const auto whole = static_cast<int64_t>(parameter.element_size());
    gradient_bytes_ += parameter.numel() * (how == Compression::none ? whole : kHalf);
  }
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

CommunicationRecord SharedTraining::communication() {
  CommunicationRecord record;
  record.gradient_bytes = gradient_bytes_;
  for (const torch::Tensor& buffer : buffers_) {
    record.buffer_bytes += static_cast<int64_t>(buffer.nbytes());
  }
  if (const auto times = average_->mean_times()) {
    record.ms = times->ms;
    record.hidden_ms = times->hidden_ms;
  } else {
    record.unknown["ms"] = record.unknown["hidden_ms"] = "there was only one step";
  }
  return record;
}

void SharedTraining::complete(PassTotals& totals, PassFigures& figures) {
  totals.add_others(ranks_);
  figures.samples *= ranks_.size();
  figures.seconds = ranks_.largest(figures.seconds);
}

}  // namespace precbench::train
