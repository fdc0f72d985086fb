#include "train/predict/predict_job.h"

#include <torch/torch.h>

#include "train/device/open_device.h"
#include "train/errors.h"
#include "train/loop/train_job.h"
#include "train/predict/largest_batch.h"

namespace precbench::train {
namespace {

// The optimizer's state appears in the first step; from the second on, memory repeats itself.
constexpr int64_t kSteps = 3;

TrainJob steps_of(TrainJob job, const std::string& mode, int64_t batch_size) {
  job.mode = mode;
  job.batch_size = batch_size;
  job.steps = kSteps;
  job.pilot = true;  // evaluates one batch, and writes no files
  job.keep_going = true;
  job.save_weights.clear();
  job.dump_trace.clear();
  job.dataset.limit_train = job.dataset.limit_test = 0;
  job.dataset.synthetic_train = kSteps * job.optimizer.accumulate * batch_size;
  job.dataset.synthetic_test = batch_size;
  return job;
}

// Nothing where it does not fit.
std::optional<MemoryRecord> memory_of(const TrainJob& job, DeviceModule& device) {
  try {
    return run_train_job(job, device, [](const Event&) {}).run.memory;
  } catch (const c10::OutOfMemoryError&) {
    return std::nullopt;
  }
}

// The parts that add up to the peak: without MemoryProfile's points.
json split_of(const json& breakdown) {
  json split = json::object();
  for (const auto& [use, bytes] : breakdown.items()) {
    if (bytes.is_number()) split[use] = bytes;
  }
  return split;
}

json row_of(const MemoryRecord& memory, const DeviceFacts& card) {
  const int64_t context = card.more.at("context_bytes").get<int64_t>();
  return {{"status", "ok"},
          {"reason", nullptr},
          {"peak_allocated_bytes", *memory.peak_allocated_bytes},
          {"peak_reserved_bytes", *memory.peak_reserved_bytes},
          {"split", split_of(memory.breakdown)},
          {"free_bytes", *card.memory_bytes - context - *memory.peak_reserved_bytes}};
}

json row_without_figures(const std::string& status, const std::string& reason) {
  return {{"status", status},
          {"reason", reason},
          {"peak_allocated_bytes", nullptr},
          {"peak_reserved_bytes", nullptr},
          {"split", json::object()},
          {"free_bytes", nullptr}};
}

json predict_mode(const TrainJob& job, const std::string& mode, bool find_max_batch,
                  DeviceModule& device) {
  json row;
  try {
    const TrainJob steps = steps_of(job, mode, job.batch_size);
    if (const auto memory = memory_of(steps, device)) {
      row = row_of(*memory, device.facts());
    } else {
      row = row_without_figures("oom", "batch " + std::to_string(job.batch_size) +
                                           " does not fit on a " + device.facts().name);
    }
    if (find_max_batch) {
      const auto fits = [&](int64_t batch_size) {
        return memory_of(steps_of(job, mode, batch_size), device).has_value();
      };
      row["max_batch_size"] = largest_batch(job.batch_size, fits);
    }
  } catch (const UnsupportedError& error) {
    row = row_without_figures("unsupported", error.what());
  }
  row["mode"] = mode;
  return row;
}

}  // namespace

json run_predict_job(const PredictJob& predict, const TrainJob& train) {
  json gpus = json::array();
  for (const std::string& gpu : predict.gpus) {
    json modes = json::array();
    json entry;
    for (const std::string& mode : predict.modes) {
      // A card of its own for each mode, as each run has a process of its own.
      const auto device = open_device("simulated:" + gpu);
      entry = to_json(device->facts());
      modes.push_back(predict_mode(train, mode, predict.find_max_batch, *device));
    }
    entry["gpu"] = gpu;
    entry["modes"] = modes;
    gpus.push_back(entry);
  }
  return {{"gpus", gpus}};
}

}  // namespace precbench::train
