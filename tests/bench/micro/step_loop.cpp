#include "step_loop.h"

#include <chrono>

#include "train/loop/run_observers.h"
#include "train/loop/training.h"

namespace precbench::train {
namespace {

class Tiny : public Model {
 public:
  Tiny(int64_t in, int64_t out) {
    layer_ = register_module("layer", Linear(in, out, GemmBackend::library_default));
  }
  torch::Tensor forward(const torch::Tensor& input) override { return layer_(input.flatten(1)); }

 private:
  Linear layer_{nullptr};
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

std::unique_ptr<LoopSetting> make_setting(const std::string& size, int64_t steps) {
  const bool is_tiny = size == "tiny";
  auto setting = std::make_unique<LoopSetting>();
  TrainJob& job = setting->job;
  job.steps = steps;
  job.batch_size = is_tiny ? 8 : 64;
  job.model = size;
  job.dataset.name = "synthetic";
  if (is_tiny) {
    job.dataset.synthetic_shape = {1, 4, 4};
    job.dataset.synthetic_classes = 4;
  }
  job.dataset.synthetic_train = 64 * job.batch_size;
  job.dataset.synthetic_test = job.batch_size;
  setting->data = load_data_set(job.dataset, job.seed);
  const SampleShape shape = setting->data.shape();
  torch::manual_seed(job.seed);
  if (is_tiny) {
    setting->model = std::make_unique<Tiny>(shape.height * shape.width, shape.classes);
  } else {
    setting->model = make_model(size, shape, json::object(), GemmBackend::library_default);
  }
  return setting;
}

double train_measured(LoopSetting& setting) {
  const TrainJob& job = setting.job;
  Loader train(setting.device, setting.data, setting.data.train, SampleOrder::shuffled,
               job.batch_size, at::MemoryFormat::Contiguous);
  Loader test(setting.device, setting.data, setting.data.test, SampleOrder::as_stored,
              job.batch_size, at::MemoryFormat::Contiguous);
  StepLog log(setting.device);
  const auto precision = make_precision(*find_mode("32-true"), at::kCPU);
  const auto optimizer = make_optimizer(job.optimizer, setting.model->parameters());
  StepClock clock(setting.device);
  const TrainingParts parts{setting.device, *setting.model, *precision, *optimizer,
                            train,          test,           log,        clock};
  int64_t events = 0;
  const EventSink count = [&](const Event&) { ++events; };
  RunObservers observers(job, parts, *find_mode("32-true"), /*resident_bytes=*/0, count);
  Training training(job, parts, observers.all);
  const auto begin = Clock::now();
  for (int64_t epoch = 1; !training.finished(); ++epoch) training.train_epoch(epoch);
  return seconds_since(begin);
}

double train_bare(LoopSetting& setting) {
  const TrainJob& job = setting.job;
  Loader train(setting.device, setting.data, setting.data.train, SampleOrder::shuffled,
               job.batch_size, at::MemoryFormat::Contiguous);
  const auto optimizer = make_optimizer(job.optimizer, setting.model->parameters());
  torch::Tensor correct = torch::zeros({}, torch::kLong);
  int64_t step = 0;
  const auto begin = Clock::now();
  while (step < job.steps) {
    train.start_pass();
    for (; !train.done() && step < job.steps; ++step) {
      optimizer->drop_gradients();
      const Batch batch = train.next();
      const torch::Tensor logits = setting.model->forward(batch.input);
      const torch::Tensor loss = at::cross_entropy_loss(logits, batch.target);
      loss.backward();
      optimizer->step();
      correct += logits.detach().argmax(-1).eq(batch.target).sum();
    }
  }
  return seconds_since(begin);
}

}  // namespace precbench::train
