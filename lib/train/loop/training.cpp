#include "train/loop/training.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "train/loop/gradients.h"

namespace precbench::train {

bool holds_on_skip(const TrainJob& job, Precision& precision) {
  return job.schedule.on_skip == "hold" && precision.scaler() != nullptr;
}

Training::Training(const TrainJob& job, const TrainingParts& parts, Observers observers,
                   StepGraph* graph)
    : job_(job),
      parts_(parts),
      observers_(std::move(observers)),
      graph_(graph),
      total_steps_(length_of(job, parts.train_loader.batches()).steps),
      schedule_(job.schedule, job.optimizer.lr, total_steps_),
      holds_on_skip_(holds_on_skip(job, parts.precision)),
      totals_(parts.device, /*sums_losses=*/job.optimizer.accumulate > 1) {
  if (graph != nullptr && !schedule_.is_constant()) parts.optimizer.keep_rate_on_device();
}

bool Training::finished() const { return is_ended_ || step_ >= total_steps_; }

PassFigures Training::train_epoch(int64_t epoch) {
  parts_.model.train();
  if (!goes_on_) {
    first_step_ = static_cast<size_t>(step_);
    samples_.clear();
    totals_.clear();
  }
  parts_.clock.begin_pass();
  if (!std::exchange(goes_on_, false)) parts_.train_loader.start_pass();
  while (!parts_.train_loader.done() && !finished()) {
    Step step{step_, epoch, train_step()};
    samples_.push_back(step.result.samples);
    if (parts_.shared != nullptr) {
      parts_.clock.pause([&] { step.result.loss = parts_.shared->mean(step.result.loss); });
    }
    parts_.log.record(step.result.loss, step.result.outcome);
    observers_.after_step(step);
    // A pilot's time limit is reached by one rank before the other; all else that ends training is
    // the same on all ranks.
    if (parts_.shared != nullptr && job_.pilot) {
      step.ends_training = parts_.shared->any(step.ends_training);
    }
    is_ended_ = is_ended_ || step.ends_training;
    const bool holds = holds_on_skip_ && parts_.log.steps().back().skipped;
    if (!holds) ++schedule_step_;
    ++step_;
    parts_.clock.end_step();
    if (between_steps_ && !finished()) between_steps_();
  }
  parts_.optimizer.drop_gradients();
  parts_.clock.end_pass();
  observers_.after_epoch(finished());
  PassFigures figures;
  figures.seconds = parts_.clock.pass_s();
  figures.samples = std::accumulate(samples_.begin(), samples_.end(), int64_t{0});
  if (parts_.shared != nullptr) parts_.shared->complete(totals_, figures);
  figures.accuracy = totals_.accuracy(figures.samples * parts_.train_loader.targets_per_sample());
  // The batches of a step may differ in size; then its loss is no mean over its samples.
  figures.loss = totals_.sums_losses() ? totals_.mean_loss(figures.samples)
                                       : mean_loss(parts_.log.steps(), first_step_, samples_);
  return figures;
}

// One optimizer step: what a graph recorded, or one operation after the other.
StepResult Training::train_step() {
  Loader& loader = parts_.train_loader;
  const bool replays =
      graph_ != nullptr && graph_->takes(step_, loader.remaining()) && !observers_.look_into(step_);
  if (replays)
    graph_->record_once([this](const Batch& batch) {
      StepResult recorded;
      parts_.optimizer.drop_gradients();
      learn_from(batch, 1, /*is_last=*/true, recorded);
      update_weights(recorded);
      return recorded;
    });
  parts_.optimizer.set_learning_rate(schedule_.rate(schedule_step_));
  parts_.optimizer.drop_gradients();
  observers_.before_step(step_);
  if (replays) return graph_->step(loader.next());

  const auto memory = graph_ != nullptr ? graph_->memory_scope() : nullptr;
  const int64_t left = (loader.remaining() + job_.batch_size - 1) / job_.batch_size;
  const int64_t batches = std::min(job_.optimizer.accumulate, left);  // fewer at an epoch's end
  StepResult result;
  for (int64_t i = 0; i < batches; ++i) {
    learn_from(loader.next(), batches, i == batches - 1, result);
  }
  update_weights(result);
  return result;
}

void Training::learn_from(const Batch& batch, int64_t batches_of_step, bool is_last,
                          StepResult& result) {
  SharedTraining* shared = parts_.shared;
  if (shared != nullptr) shared->before_forward(is_last);
  const torch::Tensor logits = parts_.precision.forward(parts_.model, batch.input);
  if (shared != nullptr) shared->after_forward(is_last);
  if (step_ == 0) check_logits(logits, batch.target, parts_.train_loader.target_classes());
  torch::Tensor loss = loss_of(logits, batch.target, job_.label_smoothing);
  totals_.add_loss(loss, batch.size());
  if (batches_of_step > 1) loss = loss / batches_of_step;
  observers_.after_forward(batch);
  // One rank's infinity has to reach all others by itself.
  const bool is_poisoned =
      step_ == job_.inject_inf_at_step && shared != nullptr && shared->is_last_rank();
  parts_.precision.backward(is_poisoned ? loss * std::numeric_limits<double>::infinity() : loss);
  observers_.after_backward();
  result.loss = result.loss.defined() ? result.loss + loss.detach() : loss.detach();
  result.samples += batch.size();
  totals_.add_correct(logits, batch.target);
}

void Training::update_weights(StepResult& result) {
  const bool is_injected = step_ == job_.inject_inf_at_step && parts_.shared == nullptr;
  if (is_injected) inject_infinity(parts_.optimizer);
  observers_.before_update();
  result.is_unclippable = !clip_gradients(job_, parts_.precision, parts_.optimizer);
  result.outcome = parts_.precision.step(parts_.optimizer);
}

// Outside autocast and in float32 in every mode, as Fabric; --loss-autocast is the other form that
// its guide shows.
torch::Tensor Training::loss_of(const torch::Tensor& logits, const torch::Tensor& target,
                                double label_smoothing) const {
  const auto scope = job_.loss_autocast ? parts_.precision.forward_scope() : nullptr;
  return cross_entropy(logits, target, label_smoothing);
}

}  // namespace precbench::train
