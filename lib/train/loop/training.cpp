#include "train/loop/training.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "train/optim/clipping.h"

namespace precbench::train {
namespace {

// Progress events: at most ten a second.
constexpr auto kEventInterval = std::chrono::milliseconds(100);

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

torch::Tensor zero_on(const DeviceModule& device, at::ScalarType type) {
  return torch::zeros({}, torch::TensorOptions().device(device.device()).dtype(type));
}

// Before the first step: a target that has no logit would be told when it comes, by its number.
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

torch::Tensor count_correct(const torch::Tensor& logits, const torch::Tensor& target) {
  return logits.argmax(-1).eq(target).sum();
}

}  // namespace

Training::Training(const TrainJob& job, const TrainingParts& parts, EventSink emit)
    : job_(job),
      parts_(parts),
      emit_(std::move(emit)),
      steps_per_epoch_((parts.train_loader.batches() + job.optimizer.accumulate - 1) /
                       job.optimizer.accumulate),
      total_steps_(job.steps > 0 ? job.steps : job.epochs * steps_per_epoch_),
      targets_per_sample_(parts.train_loader.targets_per_sample()),
      schedule_(job.schedule, job.optimizer.lr, total_steps_),
      classes_(parts.train_loader.target_classes()),
      correct_(zero_on(parts.device, torch::kLong)),
      times_(parts.device) {
  if (job.optimizer.accumulate > 1) loss_sum_ = zero_on(parts.device, torch::kDouble);
  if (!job.dump_trace.empty() && !job.pilot) {
    trace_.emplace(job.dump_trace, job.dump_trace_weights_every);
  }
  if (job.cuda_graph && !job.pilot) {
    graph_obstacle_ = graph_obstacle(job, parts.device, parts.precision.scaler() != nullptr);
    if (!graph_obstacle_) graph_.emplace(parts.device);
    if (graph_ && !schedule_.is_constant()) parts.optimizer.keep_rate_on_device();
  }
}

std::optional<GraphUse> Training::graph_use() const {
  if (!job_.cuda_graph || job_.pilot) return std::nullopt;
  if (!graph_) return GraphUse{0, graph_obstacle_};
  GraphUse use{graph_->replayed_steps(), std::nullopt};
  if (use.replayed_steps == 0) {
    use.why_none = "the run ended within its first " + std::to_string(StepGraph::kWarmUpSteps) +
                   " steps, which no graph takes, or had no whole batch after them";
  }
  return use;
}

int64_t Training::total_epochs() const {
  return (total_steps_ + steps_per_epoch_ - 1) / steps_per_epoch_;
}

bool Training::finished() const { return stopped_ || step_ >= total_steps_; }

PassFigures Training::train_epoch(int64_t epoch) {
  const auto first_step = static_cast<size_t>(step_);
  parts_.model.train();
  correct_.zero_();
  if (loss_sum_.defined()) loss_sum_.zero_();
  parts_.device.synchronize();
  const double begin_s = parts_.device.host_seconds();
  if (step_ == 0) train_begin_ = Clock::now();
  times_.begin_pass();
  parts_.train_loader.start_pass();
  while (!parts_.train_loader.done() && !finished()) {
    train_step();
    after_step(epoch);
    times_.end_step();
  }
  parts_.optimizer.drop_gradients();
  parts_.device.synchronize();
  const double end_s = parts_.device.host_seconds();
  times_.read_events();
  PassFigures figures;
  figures.seconds = end_s - begin_s - times_.paused_s();
  read_log();
  divergence_.look_at(parts_.log.steps());
  if (finished() && !job_.pilot) divergence_.look_at_all(parts_.log.steps());
  for (size_t i = first_step; i < samples_of_step_.size(); ++i)
    figures.samples += samples_of_step_[i];
  figures.accuracy = static_cast<double>(correct_.item<int64_t>()) /
                     static_cast<double>(figures.samples * targets_per_sample_);
  // The batches of a window may differ in size; then the step's loss is no mean over its samples.
  figures.loss = loss_sum_.defined()
                     ? loss_sum_.item<double>() / static_cast<double>(figures.samples)
                     : mean_loss(first_step);
  return figures;
}

void Training::train_step() {
  const std::optional<double> least_s = parts_.device.least_busy_seconds();
  parts_.optimizer.set_learning_rate(schedule_.rate(schedule_step_));
  std::optional<DtypeObserver> observer;
  if (step_ == 0) observer.emplace(parts_.device.device().type());
  const bool checks_health = parts_.health != nullptr && NumericHealth::wants(step_);
  MemoryProfile* profile = MemoryProfile::wants(step_, total_steps_) ? parts_.memory : nullptr;
  const bool replays = is_alike(checks_health || profile != nullptr);
  if (checks_health) times_.pause([this] { begin_health_check(); });
  if (replays && !graph_->is_recorded()) times_.pause([this] { record_graph(); });
  parts_.optimizer.drop_gradients();
  if (profile != nullptr) profile->begin_step();
  StepResult result;
  if (replays) {
    result = graph_->step(parts_.train_loader.next());
  } else {
    const auto memory = graph_ ? graph_->memory_scope() : nullptr;
    const int64_t batch_size = job_.batch_size;
    const int64_t left = (parts_.train_loader.remaining() + batch_size - 1) / batch_size;
    result = compute_step(
        std::min(job_.optimizer.accumulate, left), [this] { return parts_.train_loader.next(); },
        profile);
  }
  if (profile != nullptr) profile->step_done();
  parts_.log.record(result.loss, result.outcome);
  if (observer) observed_ = observer->observed();
  if (checks_health) times_.pause([&] { end_health_check(result.outcome); });
  if (trace_) times_.pause([this] { write_trace(); });
  if (step_ == 0 && on_first_step_) times_.pause(on_first_step_);
  samples_of_step_.push_back(result.samples);
  if (least_s) least_step_s_ = *parts_.device.least_busy_seconds() - *least_s;
}

// A phase of its own, which may take seconds.
void Training::record_graph() {
  emit_(PhaseEvent{"record_graph"});
  graph_->record([this](const Batch& batch) { return compute_recorded(batch); });
  emit_(PhaseEvent{"train"});
}

StepResult Training::compute_recorded(const Batch& batch) {
  parts_.optimizer.drop_gradients();
  return compute_step(
      1, [&batch] { return batch; }, nullptr);
}

// Waits for the device. Weights are looked at now and then, as the log is.
void Training::read_log() {
  parts_.log.read_back(parts_.device.any_non_finite(parts_.optimizer.parameters()));
}

// One optimizer step from so many batches, one operation after the other.
StepResult Training::compute_step(int64_t batches, const std::function<Batch()>& next,
                                  MemoryProfile* profile) {
  StepResult result;
  for (int64_t i = 0; i < batches; ++i) {
    const Batch batch = next();
    if (graph_ && step_ == 0) graph_->note_batch(batch);
    const torch::Tensor logits = parts_.precision.forward(parts_.model, batch.input);
    if (step_ == 0 && i == 0) check_logits(logits, batch.target, classes_);
    torch::Tensor loss = loss_of(logits, batch.target, job_.label_smoothing);
    if (loss_sum_.defined()) {
      loss_sum_.add_(loss.detach(), static_cast<double>(batch.size()));
    }
    // By what this window has, which is less at the end of an epoch.
    if (batches > 1) loss = loss / batches;
    if (profile != nullptr) profile->forward_done();
    parts_.precision.backward(loss);
    if (profile != nullptr) profile->backward_done();
    result.loss = result.loss.defined() ? result.loss + loss.detach() : loss.detach();
    correct_ += count_correct(logits.detach(), batch.target);
    result.samples += batch.size();
  }
  if (step_ == job_.inject_inf_at_step) inject_infinity();
  note_gradients();
  clip_gradients();
  result.outcome = parts_.precision.step(parts_.optimizer);
  return result;
}

// Whether the next step is like all others, so that a graph may do it.
bool Training::is_alike(bool is_looked_at) const {
  return graph_ && !is_looked_at && step_ >= StepGraph::kWarmUpSteps &&
         step_ != job_.inject_inf_at_step && parts_.train_loader.remaining() >= job_.batch_size;
}

// Copying and counting is no part of training: neither its time nor its memory counts.
void Training::begin_health_check() {
  if (parts_.memory != nullptr) parts_.memory->pause();
  parts_.health->before_step();
  if (Float8Layers* float8 = parts_.precision.float8()) float8->count(true);
  // Reading the scale waits for the device, so it is read in these few steps alone.
  const GradScaler* scaler = parts_.precision.scaler();
  health_scale_ = scaler != nullptr ? scaler->current_scale() : 1.0;
}

void Training::end_health_check(const StepOutcome& outcome) {
  const bool skipped = outcome.skipped.defined() && outcome.skipped.item<float>() != 0.0F;
  parts_.health->after_step(step_, health_scale_, skipped);
  if (Float8Layers* float8 = parts_.precision.float8()) float8->count(false);
  if (parts_.memory != nullptr) parts_.memory->resume();
}

// Outside autocast and in float32 in every mode, as Fabric; --loss-autocast is the other form that
// its guide shows.
torch::Tensor Training::loss_of(const torch::Tensor& logits, const torch::Tensor& target,
                                double label_smoothing) const {
  const auto scope = job_.loss_autocast ? parts_.precision.forward_scope() : nullptr;
  const bool per_token = target.dim() > 1;
  return at::cross_entropy_loss(per_token ? logits.flatten(0, 1) : logits, target.flatten(),
                                /*weight=*/{}, at::Reduction::Mean, /*ignore_index=*/-100,
                                label_smoothing);
}

void Training::clip_gradients() {
  const OptimizerJob& optimizer = job_.optimizer;
  if (!optimizer.clip_norm && !optimizer.clip_value) return;
  parts_.precision.unscale_gradients(parts_.optimizer);
  const auto& parameters = parts_.optimizer.parameters();
  if (optimizer.clip_value) clip_gradients_by_value(parameters, *optimizer.clip_value);
  if (!optimizer.clip_norm) return;
  // With a scaler an overflow is skipped by its step() and shrinks the scale; an error here would
  // keep it from doing so.
  const bool has_scaler = parts_.precision.scaler() != nullptr;
  try {
    clip_gradients_by_norm(parameters, *optimizer.clip_norm,
                           /*error_if_nonfinite=*/!has_scaler && !job_.keep_going);
  } catch (const NonFiniteNormError&) {
    divergence_.report_unclippable(step_);
  }
}

void Training::inject_infinity() {
  torch::NoGradGuard no_grad;
  torch::Tensor place = first_gradient();  // not view(-1): it may be in channels_last
  while (place.dim() > 0) place = place.select(0, 0);
  place.fill_(std::numeric_limits<double>::infinity());
}

// A user's module may have parameters that it does not use.
torch::Tensor Training::first_gradient() const {
  for (const torch::Tensor& parameter : parts_.optimizer.parameters()) {
    if (parameter.grad().defined()) return parameter.grad();
  }
  throw std::invalid_argument("no parameter of the model has a gradient");
}

// As backward left them: neither unscaled nor clipped.
void Training::note_gradients() {
  const auto& parameters = parts_.optimizer.parameters();
  if (step_ == 0) gradient_dtype_ = first_gradient().scalar_type();
  if (!trace_) return;
  times_.pause([&] {
    traced_.scale.reset();
    if (GradScaler* scaler = parts_.precision.scaler()) traced_.scale = scaler->current_scale();
    traced_.gradient_norm = gradient_norm(parameters) / traced_.scale.value_or(1.0);
  });
}

void Training::write_trace() {
  read_log();
  const StepRecord& step = parts_.log.steps().back();
  traced_.loss = step.loss;
  traced_.skipped = step.skipped;
  trace_->record(traced_, parts_.optimizer.parameters());
}

void Training::after_step(int64_t epoch) {
  ++step_;
  const bool holds = schedule_.holds_on_skip() && parts_.precision.scaler() != nullptr;
  if (holds || job_.pilot || parts_.log.is_due()) times_.pause([this] { read_log(); });
  const auto& steps = parts_.log.steps();
  if (!(holds && steps.back().skipped)) ++schedule_step_;
  divergence_.look_at(steps);
  if (divergence_.reason() && !job_.keep_going) stopped_ = true;
  if (job_.pilot && seconds_since(train_begin_) >= job_.pilot_limit_s) stopped_ = true;
  const auto now = Clock::now();
  if (last_event_ && now - *last_event_ < kEventInterval) return;
  last_event_ = now;
  StepsEvent event{epoch, total_epochs(), step_, total_steps_, std::nullopt};
  if (!steps.empty()) event.loss = steps.back().loss;
  times_.pause([&] { emit_(event); });
}

PassFigures Training::evaluate(std::optional<int64_t> max_batches) {
  torch::NoGradGuard no_grad;
  parts_.model.eval();
  const torch::Tensor correct = zero_on(parts_.device, torch::kLong);
  const torch::Tensor loss_sum = zero_on(parts_.device, torch::kDouble);
  PassFigures figures;
  const auto memory = graph_ ? graph_->memory_scope() : nullptr;
  parts_.device.synchronize();
  const double begin_s = parts_.device.host_seconds();
  parts_.test_loader.start_pass();
  for (int64_t i = 0; !parts_.test_loader.done() && i < max_batches.value_or(i + 1); ++i) {
    const Batch batch = parts_.test_loader.next();
    const torch::Tensor logits = parts_.precision.forward(parts_.model, batch.input);
    // Smoothing is a way to train; what is told of the test set compares with runs without it.
    loss_sum.add_(loss_of(logits, batch.target, /*label_smoothing=*/0),
                  static_cast<double>(batch.size()));
    correct.add_(count_correct(logits, batch.target));
    figures.samples += batch.size();
  }
  parts_.device.synchronize();
  figures.seconds = parts_.device.host_seconds() - begin_s;
  const auto samples = static_cast<double>(figures.samples);
  figures.accuracy = static_cast<double>(correct.item<int64_t>()) /
                     (samples * static_cast<double>(targets_per_sample_));
  figures.loss = loss_sum.item<double>() / samples;
  return figures;
}

double Training::mean_loss(size_t first_step) const {
  double sum = 0, samples = 0;
  const auto& steps = parts_.log.steps();
  for (size_t i = first_step; i < steps.size(); ++i) {
    const auto weight = static_cast<double>(samples_of_step_[i]);
    sum += steps[i].loss * weight;
    samples += weight;
  }
  return sum / samples;
}

}  // namespace precbench::train
