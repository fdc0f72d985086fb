#include "train/loop/checkpoints.h"

#include <unistd.h>

#include "common/checkpoint_file.h"
#include "common/errors.h"
#include "common/fields_json.h"
#include "train/device/counting_allocator.h"

namespace precbench::train {
namespace {

// A file that is cut off by a crash of the machine leaves the one before.
constexpr size_t kKept = 2;

void exchange_generator(RunState& state, const std::string& name, torch::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  torch::Tensor bytes;
  if (!state.restores()) bytes = generator.get_state();
  state.tensor(name, bytes);
  if (state.restores()) generator.set_state(bytes);
}

void exchange_epochs(RunState& state, std::vector<EpochRecord>& epochs) {
  json records = json_of(epochs);
  state.value("epochs", records);
  if (!state.restores()) return;
  epochs.clear();
  for (const json& record : records) {
    epochs.push_back(record_from<EpochRecord>(ObjectReader(record, "epochs")));
  }
}

}  // namespace

void Training::exchange(RunState& state) {
  for (const auto& item : parts_.model.named_parameters()) {
    torch::Tensor place = item.value();
    state.tensor("model." + item.key(), place);
  }
  for (const auto& item : parts_.model.named_buffers()) {
    torch::Tensor place = item.value();
    if (place.defined()) state.tensor("model." + item.key(), place);
  }
  parts_.optimizer.exchange(state);
  if (GradScaler* scaler = parts_.precision.scaler()) {
    GradScalerState of_scaler = scaler->state();
    state.value("scaler.scale", of_scaler.scale);
    state.value("scaler.growth_tracker", of_scaler.growth_tracker);
    if (state.restores()) scaler->load_state(of_scaler);
  }
  if (Float8Layers* float8 = parts_.precision.float8()) float8->exchange(state);
  parts_.train_loader.exchange(state);
  state.value("training.step", step_);
  state.value("training.schedule_step", schedule_step_);
  state.value("training.first_step", first_step_);
  state.value("training.samples", samples_);
  totals_.exchange(state);
  if (state.restores()) goes_on_ = true;
}

Checkpoints::Checkpoints(const TrainJob& job, const TrainingParts& parts, Training& training,
                         RunObservers& watched, RunMeasurements& measured)
    : job_(job), parts_(parts), training_(training), watched_(watched), measured_(measured) {
  if (!job.checkpoint.resume_from.empty()) restore();
  last_s_ = parts.device.host_seconds();
  if (job.checkpoint.stem.empty()) return;
  training.calls_between_steps([this] {
    if (is_due()) watched_.clock.pause([this] { save(); });
  });
}

bool Checkpoints::is_due() const {
  const CheckpointJob& wanted = job_.checkpoint;
  if (wanted.steps > 0) return training_.steps_done() % wanted.steps == 0;
  return parts_.device.host_seconds() - last_s_ >= wanted.seconds;
}

void Checkpoints::exchange(RunState& state) {
  training_.exchange(state);
  parts_.log.exchange(state);
  watched_.clock.exchange(state);
  watched_.memory.exchange(state);
  watched_.dtypes.exchange(state);
  if (watched_.health) watched_.health->exchange(state);
  watched_.divergence.exchange(state);
  state.value("measured.train_s", measured_.train_s);
  state.value("measured.eval_s", measured_.eval_s);
  state.value("measured.train_samples", measured_.train_samples);
  exchange_epochs(state, measured_.epochs);
  // Last: restoring draws no numbers, but whoever did would not be seen.
  exchange_generator(state, "generator.cpu", torch::kCPU);
  if (!parts_.device.is_cpu()) {
    exchange_generator(state, "generator.device", parts_.device.device());
  }
}

void Checkpoints::save() {
  torch::NoGradGuard no_grad;
  const CountingAllocator::Uncounted uncounted;
  parts_.log.read_back(parts_.device.any_non_finite(parts_.optimizer.parameters()));
  watched_.memory.pause();
  try {
    RunState state;
    exchange(state);
    const int64_t step = training_.steps_done();
    const std::string& stem = job_.checkpoint.stem;
    state.write(checkpoint_path(stem, step), json::parse(job_.checkpoint.identity), step);
    const auto all = checkpoints_of(stem);
    for (size_t i = kKept; i < all.size(); ++i) ::unlink(all[i].path.c_str());
  } catch (const FileError& error) {
    if (!trouble_) trouble_ = error.what();
  }
  watched_.memory.resume();
  last_s_ = parts_.device.host_seconds();
}

void Checkpoints::restore() {
  RunState state(job_.checkpoint.resume_from);
  exchange(state);
  // The file's tensors were no part of training.
  watched_.memory.resume();
}

}  // namespace precbench::train
