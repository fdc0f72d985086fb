#include "train/predict/predict_job.h"

#include <future>

#include "common/errors.h"
#include "train/base/errors.h"
#include "train/base/torch.h"
#include "train/device/open_device.h"
#include "train/loop/train_job.h"
#include "train/predict/largest_batch.h"

namespace precbench::train {
namespace {

// How the simulation's errors for operations without a rule begin (simulated_gpu/fallback.cpp).
constexpr const char* kUnknownOperation = "the simulated GPU does not know";

// The optimizer's state appears in the first step; from the second on, memory repeats itself.
constexpr int64_t kSteps = 2;

TrainJob steps_of(TrainJob job, const std::string& mode, int64_t batch_size) {
  job.mode = mode;
  job.batch_size = batch_size;
  job.steps = kSteps;
  job.pilot = true;  // evaluates one batch, and writes no files
  job.keep_going = true;
  job.save_weights.clear();
  job.dump_trace.clear();
  return job;
}

// As many samples as the steps and an evaluation need, in the memory of a host that counts nothing:
// as from a data loader, no data set lies on the card.
DataSet samples_like(const DataSet& example, const TrainJob& job, DeviceModule& device) {
  const auto weightless = device.weightless_scope();
  const auto repeated = [](const torch::Tensor& one, int64_t count) {
    std::vector<int64_t> sizes = one.sizes().vec();
    sizes[0] = count;
    return torch::empty(sizes, one.scalar_type());
  };
  const auto split = [&](const Split& one, int64_t count) {
    return Split{repeated(one.samples, count), repeated(one.targets, count)};
  };
  DataSet data = example;
  data.train = split(example.train, kSteps * job.optimizer.accumulate * job.batch_size);
  data.test = split(example.test, job.batch_size);
  data.resident = false;
  return data;
}

class Prediction {
 public:
  Prediction(const TrainJob& job, std::string mode, const DataSet& example, const FreshCard& card)
      : job_(job), mode_(std::move(mode)), example_(example), fresh_card_(card) {}

  json row(bool find_max_batch) const;

 private:
  json at_batch_size(bool find_max_batch) const;
  std::optional<TrainResult> steps_at(int64_t batch_size) const;
  int64_t max_batch_size(const std::optional<TrainResult>& known, int64_t room) const;

  const TrainJob& job_;
  std::string mode_;
  const DataSet& example_;
  const FreshCard& fresh_card_;
};

// Nothing where it does not fit. Runs in a thread of its own: where a backward pass runs out of
// memory, autograd's queue of the thread keeps what was left to do, and its tensors, for good.
std::optional<TrainResult> Prediction::steps_at(int64_t batch_size) const {
  const auto source = [this](const TrainJob& job, DeviceModule& device) {
    return samples_like(example_, job, device);
  };
  const auto run = [&]() -> std::optional<TrainResult> {
    try {
      const auto card = fresh_card_();
      const TrainJob steps = steps_of(job_, mode_, batch_size);
      const EventSink ignore = [](const Event&) {};
      return run_train_job(steps, *card, ignore, source);
    } catch (const c10::OutOfMemoryError&) {
      return std::nullopt;
    }
  };
  return std::async(std::launch::async, run).get();
}

int64_t room_on(const DeviceFacts& card) {
  return *card.memory_bytes - card.more.at("context_bytes").get<int64_t>();
}

// The parts that add up to the peak: without MemoryProfile's points.
json split_of(const json& breakdown) {
  json split = json::object();
  for (const auto& [use, bytes] : breakdown.items()) {
    if (bytes.is_number()) split[use] = bytes;
  }
  return split;
}

json row_of(const TrainResult& steps, const DeviceFacts& card) {
  constexpr double kMillisecondsPerSecond = 1e3;
  const MemoryRecord& memory = steps.run.memory;
  const json least_ms =
      steps.least_step_s ? json(*steps.least_step_s * kMillisecondsPerSecond) : json(nullptr);
  return {{"status", "ok"},
          {"reason", nullptr},
          {"peak_allocated_bytes", *memory.peak_allocated_bytes},
          {"peak_reserved_bytes", *memory.peak_reserved_bytes},
          {"split", split_of(memory.breakdown)},
          {"least_step_ms", least_ms},
          {"free_bytes", room_on(card) - *memory.peak_reserved_bytes}};
}

json row_without_figures(const std::string& status, const std::string& reason) {
  return {{"status", status},
          {"reason", reason},
          {"peak_allocated_bytes", nullptr},
          {"peak_reserved_bytes", nullptr},
          {"split", json::object()},
          {"least_step_ms", nullptr},
          {"free_bytes", nullptr}};
}

// `known` is the memory at the job's batch size.
int64_t Prediction::max_batch_size(const std::optional<TrainResult>& known, int64_t room) const {
  const auto peak_of = [&](int64_t batch_size) -> std::optional<int64_t> {
    const auto steps = batch_size == job_.batch_size ? known : steps_at(batch_size);
    return steps ? steps->run.memory.peak_allocated_bytes : std::nullopt;
  };
  return largest_batch(job_.batch_size, room, peak_of);
}

json Prediction::at_batch_size(bool find_max_batch) const {
  const DeviceFacts card = fresh_card_()->facts();
  const auto steps = steps_at(job_.batch_size);
  json row = steps ? row_of(*steps, card)
                   : row_without_figures("oom", "batch " + std::to_string(job_.batch_size) +
                                                    " does not fit on a " + card.name);
  if (find_max_batch) row["max_batch_size"] = max_batch_size(steps, room_on(card));
  return row;
}

// What a user's module does is not known beforehand: whatever it stumbles over is its row's reason.
// A model of ours that cannot be simulated stops the prediction.
json Prediction::row(bool find_max_batch) const {
  json row;
  try {
    row = at_batch_size(find_max_batch);
  } catch (const UnsupportedError& error) {
    const std::string reason = error.what();
    const bool is_ours = reason.find(kUnknownOperation) != std::string::npos;
    row = row_without_figures(is_ours ? "error" : "unsupported", reason);
  } catch (const UserError&) {
    throw;
  } catch (const std::exception& error) {
    if (job_.model_file.empty()) throw;
    row = row_without_figures("error", first_line_of(error));
  }
  row["mode"] = mode_;
  return row;
}

}  // namespace

DataSet example_of(const TrainJob& job) {
  DatasetJob dataset = job.dataset;
  dataset.limit_train = dataset.limit_test = 0;
  dataset.synthetic_train = dataset.synthetic_test = 1;
  return load_data_set(dataset, job.seed);
}

json predict_mode(const TrainJob& job, const std::string& mode, const DataSet& example,
                  bool find_max_batch, const FreshCard& fresh_card) {
  return Prediction(job, mode, example, fresh_card).row(find_max_batch);
}

json run_predict_job(const PredictJob& predict, const TrainJob& train) {
  json gpus = json::array();
  std::optional<DataSet> example;
  for (const std::string& gpu : predict.gpus) {
    const FreshCard fresh_card = [&gpu] { return open_device("simulated:" + gpu); };
    json entry = to_json(fresh_card()->facts());  // before any ATen call
    if (!example) example = example_of(train);
    json modes = json::array();
    for (const std::string& mode : predict.modes) {
      modes.push_back(predict_mode(train, mode, *example, predict.find_max_batch, fresh_card));
    }
    entry["gpu"] = gpu;
    entry["modes"] = modes;
    gpus.push_back(entry);
  }
  return {{"gpus", gpus}};
}

}  // namespace precbench::train
