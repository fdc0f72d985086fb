#include "train/loop/train_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "common/target.h"
#include "train/base/dtypes.h"
#include "train/base/errors.h"
#include "train/data/data_set.h"
#include "train/loop/checkpoints.h"
#include "train/loop/job_checks.h"
#include "train/loop/run_observers.h"
#include "train/loop/run_record_builder.h"
#include "train/loop/run_setup.h"
#include "train/loop/training.h"
#include "train/loop/weights.h"
#include "train/measure/memory_split.h"
#include "train/measure/process.h"
#include "train/models/script_model.h"

namespace precbench::train {
namespace {

// Evaluations happen after every `eval_every` epochs and after the last one.
bool evaluates_after(const TrainJob& job, int64_t epoch, int64_t epochs) {
  return epoch == epochs || (job.eval_every > 0 && epoch % job.eval_every == 0);
}

EpochRecord epoch_record(int64_t epoch, const PassFigures& train,
                         const std::optional<PassFigures>& test, const DataTroubles& troubles) {
  EpochRecord record;
  record.epoch = epoch;
  record.train_accuracy = train.accuracy;
  record.train_loss = train.loss;
  record.train_s = train.seconds;
  if (test) {
    record.test_accuracy = test->accuracy;
    record.test_loss = test->loss;
    record.eval_s = test->seconds;
  } else {
    for (const char* key : {"test_accuracy", "test_loss", "eval_s"}) {
      record.unknown[key] = "not evaluated after this epoch";
    }
  }
  note_non_finite(record.unknown, "train_loss", record.train_loss, troubles.train);
  note_non_finite(record.unknown, "test_loss", record.test_loss, troubles.test);
  return record;
}

DataSet load(const TrainJob& job, DeviceModule& device) {
  const auto load_it = [&] {
    const auto weightless = device.weightless_scope();
    return load_data_set(job.dataset, job.seed);
  };
  return placed(load_it(), device);
}

// A user's module may have frozen layers.
std::vector<torch::Tensor> trained_parameters(const Model& model) {
  std::vector<torch::Tensor> parameters = model.parameters();
  std::erase_if(parameters, [](const torch::Tensor& each) { return !each.requires_grad(); });
  if (parameters.empty()) throw std::invalid_argument("the model has no parameters to train");
  return parameters;
}

TrainResult run(const TrainJob& job, DeviceModule& device, const EventSink& emit,
                const DataSource& source, Ranks* ranks) {
  check_train_job(job);
  const ModeTraits& mode = effective_mode(job, device);
  apply_numeric_settings(job, mode, device);
  const bool saves_weights = !job.save_weights.empty() && !job.pilot;
  if (saves_weights) require_writable(job.save_weights);  // before the time is spent
  RunMeasurements measured;
  measured.startup_s = seconds_since_process_start();

  emit(PhaseEvent{"load_data"});
  const auto load_begin = std::chrono::steady_clock::now();
  const DataSet data = source(job, device);
  device.synchronize();
  measured.data_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - load_begin).count();
  measured.dataset_bytes = data.bytes();
  measured.dataset_resident = data.resident;
  check_model_reads(job, data);
  measured.is_text = data.kind == SampleKind::text;
  measured.troubles = troubles_of(data, mode);

  emit(PhaseEvent{"build_model"});
  const at::MemoryFormat format = memory_format(job);
  const Share share = ranks != nullptr ? Share{ranks->rank(), ranks->size()} : Share{};
  Loader train_loader(device, data, data.train, SampleOrder::shuffled, job.batch_size, format,
                      share);
  Loader test_loader(device, data, data.test, SampleOrder::as_stored, job.batch_size, format,
                     share);
  StepLog log(device);
  device.empty_cache();
  // Whatever is there now (data, its order, the step log) is no part of what training needs.
  const DeviceMemory resident = device.memory();
  const int64_t resident_bytes = resident.allocated_bytes;
  if (job.memory_limit_bytes > 0) {
    device.set_memory_limit(resident.reserved_bytes.value_or(resident_bytes) +
                            job.memory_limit_bytes);
  }
  MemorySplit split(device);
  const auto precision =
      make_precision(mode, device.device().type(), {job.fp8, float8_kernel(device)});
  const auto model = build_model(job, data.shape(), *precision, device);
  split.note_model(*model);
  const auto optimizer = make_optimizer(job.optimizer, trained_parameters(*model));
  std::optional<SharedTraining> shared;
  if (ranks != nullptr) shared.emplace(*ranks, *model, *optimizer, job.grad_compression);
  StepClock clock(device);
  const TrainingParts parts{device,     *model,       *precision,
                            *optimizer, train_loader, test_loader,
                            log,        clock,        shared ? &*shared : nullptr};
  RunObservers watched(job, parts, mode, resident_bytes, emit);
  watched.first_step.calls([&] {
    if (Float8Layers* float8 = precision->float8()) {
      float8->note_step(watched.dtypes.observed() ? watched.dtypes.observed()->flops : 0);
    }
    check_recipe(mode, *precision, watched.dtypes, *optimizer);
    split.note_optimizer(*optimizer);
  });
  Training training(job, parts, watched.all, watched.graph.is_usable() ? &watched.graph : nullptr);

  Checkpoints checkpoints(job, parts, training, watched, measured);
  const int64_t epochs = watched.length.epochs;
  for (int64_t epoch = checkpoints.first_epoch(); epoch <= epochs && !training.finished();
       ++epoch) {
    emit(PhaseEvent{"train"});
    const PassFigures train = training.train_epoch(epoch);
    measured.train_s += train.seconds;
    measured.train_samples += train.samples;
    if (watched.divergence.reason() && !job.keep_going) break;
    std::optional<PassFigures> test;
    if (training.finished() || evaluates_after(job, epoch, epochs)) {
      emit(PhaseEvent{"evaluate"});
      test = training.evaluate(job.pilot ? std::optional<int64_t>(1) : std::nullopt);
      measured.eval_s = measured.eval_s.value_or(0.0) + test->seconds;
    }
    measured.epochs.push_back(epoch_record(epoch, train, test, measured.troubles));
    emit(EpochEvent{measured.epochs.back()});
    // A pilot's one batch reaches nothing.
    if (test && !job.pilot && reaches_target(job, test->accuracy, test->loss)) break;
  }
  measured.memory = device.memory();
  measured.used_bytes = device.used_bytes();
  measured.memory.peak_allocated_bytes = watched.memory.peak_bytes();
  if (ranks != nullptr) {
    measured.memory_of_ranks = ranks->each(measured.memory.peak_allocated_bytes);
    const auto& all = measured.memory_of_ranks;
    measured.memory.peak_allocated_bytes = *std::max_element(all.begin(), all.end());
  }
  measured.memory_breakdown = split.refined(watched.memory.breakdown());
  if (watched.health) measured.numerics = watched.health->summary(log.steps());
  if (saves_weights) save_weights(*model, job.save_weights);
  TrainResult result =
      build_result(job, mode, device, *precision, *optimizer, watched, log, measured);
  if (shared) result.run.communication = shared->communication();
  if (checkpoints.trouble()) result.notes.push_back(*checkpoints.trouble());
  result.least_step_s = watched.least_time.step_s();
  result.train_samples = data.train.size();
  result.test_samples = data.test.size();
  return result;
}

}  // namespace

TrainResult run_train_job(const TrainJob& job, DeviceModule& device, const EventSink& emit,
                          Ranks* ranks) {
  return run_train_job(job, device, emit, &load, ranks);
}

TrainResult run_train_job(const TrainJob& job, DeviceModule& device, const EventSink& emit,
                          const DataSource& source, Ranks* ranks) {
  try {
    return run(job, device, emit, source, ranks);
  } catch (const std::runtime_error& error) {  // of the backward pass; Model::forward has its own
    if (!job.model_file.empty()) rethrow_script_error(error.what());
    throw;
  }
}

}  // namespace precbench::train
