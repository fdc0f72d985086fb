#include "bench/predict/prediction.h"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>

#include "bench/plan/resolve_device.h"
#include "bench/platform/verdict.h"
#include "bench/text/units.h"
#include "bench/worker/ask_worker.h"
#include "common/errors.h"
#include "common/fields_json.h"
#include "common/gpu_cards.h"
#include "common/suggest.h"
#include "data/load.h"

namespace precbench {
namespace {

constexpr const char* kNothingComputed =
    "a simulated GPU counts bytes and computes nothing; run it on the card";

// What everyone's copy of a data set looks like.
struct KnownShape {
  std::string_view dataset;
  int64_t channels, pixels, classes;
};
constexpr KnownShape kKnownShapes[] = {{"fashion-mnist", 1, 28, 10},
                                       {"mnist", 1, 28, 10},
                                       {"cifar10", 3, 32, 10},
                                       {"cifar100", 3, 32, 100}};

// Only shapes count: made-up samples of the data set's shape, so that its files need not be here.
// What is in tensors that Python saved the worker alone can read.
DatasetJob made_up(const DatasetJob& job) {
  if (job.name == "synthetic" || job.name == "bundle") return job;
  DatasetJob made = job;
  made.name = "synthetic";
  for (const KnownShape& known : kKnownShapes) {
    if (known.dataset != job.name) continue;
    made.synthetic_shape = {known.channels, known.pixels, known.pixels};
    made.synthetic_classes = known.classes;
    return made;
  }
  const data::DatasetSummary summary = data::check_dataset(job);
  made.synthetic_shape = summary.shape;
  made.synthetic_classes = summary.classes;
  return made;
}

DeviceFacts facts_of(const GpuCard& card) {
  DeviceFacts facts;
  facts.kind = "simulated";
  facts.name = card.name;
  facts.compute_capability = card.compute_capability;
  facts.memory_bytes = card.memory_bytes();
  return facts;
}

Job job_of(const Plan& plan, const PredictRequest& request) {
  Job job;
  job.kind = JobKind::predict;
  job.parent_pid = getpid();
  job.predict.gpus = request.gpus;
  job.predict.find_max_batch = request.find_max_batch;
  for (const ModeTraits* mode : plan.modes) job.predict.modes.emplace_back(mode->name);
  job.train = job_for(plan, *plan.modes.front(), plan.seeds.front(), /*is_cuda=*/true);
  job.train.dataset = made_up(plan.job.dataset);
  return job;
}

json workload_of(const Plan& plan, const TrainJob& job) {
  return {{"title", plan.title},
          {"model", job.model},
          {"dataset", plan.job.dataset.name},
          {"model_file", job.model_file.empty() ? json(nullptr) : json(job.model_file)},
          // Of tensors that Python saved the worker alone knows it.
          {"sample_shape",
           job.dataset.name == "bundle" ? json(nullptr) : json(job.dataset.synthetic_shape)},
          {"image_size", job.dataset.image_size},
          {"batch_size", job.batch_size},
          {"accumulate", job.optimizer.accumulate},
          {"optimizer", job.optimizer.name},
          {"optimizer_impl", job.optimizer.impl},
          {"memory_format", job.memory_format}};
}

void complete_row(json& row, const GpuCard& card) {
  if (const ModeTraits* mode = find_mode(row.at("mode").get<std::string>())) {
    const Support support = verdict(*mode, facts_of(card));
    row["support"] = json_of(support);
  }
  row["time"] = row["accuracy"] = nullptr;
  row["unknown"] = {{"time", kNothingComputed}, {"accuracy", kNothingComputed}};
  for (const char* figure : {"peak_allocated_bytes", "peak_reserved_bytes", "free_bytes"}) {
    if (row.at(figure).is_null()) row["unknown"][figure] = row.at("reason");
  }
  if (row.at("least_step_ms").is_null()) {
    row["unknown"]["least_step_ms"] =
        row.at("reason").is_null() ? json("there is no data sheet of this card") : row.at("reason");
  }
  if (!row.contains("max_batch_size")) {
    row["max_batch_size"] = nullptr;
    row["unknown"]["max_batch_size"] = row.at("status") == "unsupported"
                                           ? row.at("reason")
                                           : json("asked for by --find-max-batch");
  }
}

json lost_row(const std::string& mode, const JobOutcome& outcome) {
  return {{"mode", mode},
          {"status", name_of(outcome.status)},
          {"reason", outcome.reason.value_or("the worker did not answer")},
          {"peak_allocated_bytes", nullptr},
          {"peak_reserved_bytes", nullptr},
          {"split", json::object()},
          {"least_step_ms", nullptr},
          {"free_bytes", nullptr}};
}

// The worker died, which it does once for all rows: each row gets a worker of its own, and costs no
// other.
json predict_one_by_one(const Job& job, const std::function<JobOutcome(const Job&)>& ask) {
  Job cards = job;
  cards.predict.modes.clear();
  const JobOutcome facts = ask(cards);
  if (!facts.result) return nullptr;
  json prediction = facts.result->facts;
  for (json& gpu : prediction.at("gpus")) {
    for (const std::string& mode : job.predict.modes) {
      Job one = job;
      one.predict.gpus = {gpu.at("gpu").get<std::string>()};
      one.predict.modes = {mode};
      const JobOutcome outcome = ask(one);
      gpu.at("modes").push_back(outcome.result
                                    ? outcome.result->facts.at("gpus").at(0).at("modes").at(0)
                                    : lost_row(mode, outcome));
    }
  }
  return prediction;
}

}  // namespace

void check_gpus(const std::vector<std::string>& gpus) {
  for (const std::string& gpu : gpus) {
    if (find_gpu_card(gpu) != nullptr) continue;
    std::string message = "unknown GPU '" + gpu + "'";
    if (const auto guess = nearest(gpu, gpu_card_ids())) {
      message += "; did you mean '" + *guess + "'?";
    }
    throw UsageError(message + "\n       GPUs: " + joined(gpu_card_ids()));
  }
}

json predict(const Plan& plan, const PredictRequest& request, JobRunner& runner) {
  check_gpus(request.gpus);
  data::check_model_file(plan.job);
  Plan resolved = plan;
  resolve_for_device(resolved, /*is_cuda=*/true, {});
  const Job job = job_of(resolved, request);
  const auto ask = [&](const Job& question) {
    return ask_worker(question, {plan.timeout_s}, runner, "the prediction was there");
  };
  const JobOutcome outcome = ask(job);
  const bool has_died =
      !outcome.result && !outcome.failure && !outcome.refused && outcome.status != Status::timeout;
  json prediction = outcome.result ? outcome.result->facts
                    : has_died     ? predict_one_by_one(job, ask)
                                   : json();
  if (prediction.is_null()) {
    const bool is_file = outcome.failure == FailureKind::input;
    throw UserError(is_file ? ExitCode::file : ExitCode::nothing_ran,
                    "no prediction: " + outcome.reason.value_or("the worker did not answer"));
  }
  for (json& gpu : prediction.at("gpus")) {
    const GpuCard& card = *find_gpu_card(gpu.at("gpu").get<std::string>());
    for (json& row : gpu.at("modes")) complete_row(row, card);
  }
  prediction["workload"] = workload_of(resolved, job.train);
  prediction["assumptions"] = {
      "PyTorch's caching allocator in its default configuration, one stream, one process on the "
      "card",
      "samples come in batches from a data loader: no data set lies on the card",
      "evaluation with the training batch size",
      "workspaces of cuDNN are not known and not counted",
      "least_step_ms is a bound and no prediction: what each operation computes at its data "
      "sheet's rate, or moves beyond the cache at its bandwidth, whichever takes longer",
      "the CUDA context is outside of the peak, and inside of what is not free"};
  return prediction;
}

std::map<std::string, int64_t> predicted_peaks(const Plan& plan, const DeviceFacts& card,
                                               JobRunner& runner) {
  if (!card.memory_bytes || card.compute_capability == 0) return {};
  PredictRequest request;
  request.gpus = {fmt::format("sm_{}:{}", card.compute_capability, *card.memory_bytes)};
  const JobOutcome outcome = runner.run(job_of(plan, request), {plan.timeout_s}, nullptr, nullptr);
  if (!outcome.result || !outcome.result->facts.is_object()) return {};
  std::map<std::string, int64_t> peaks;
  for (const json& gpu : outcome.result->facts.value("gpus", json::array())) {
    for (const json& row : gpu.value("modes", json::array())) {
      const json peak = row.value("peak_allocated_bytes", json());
      if (peak.is_number()) peaks[row.value("mode", "")] = peak.get<int64_t>();
    }
  }
  return peaks;
}

std::string beside_measurement(int64_t measured_bytes, int64_t predicted_bytes) {
  const auto measured = static_cast<double>(measured_bytes);
  const auto predicted = static_cast<double>(predicted_bytes);
  return fmt::format("peak memory {} MiB, predicted {} ({:+.1f} %)", mebibytes_text(measured),
                     mebibytes_text(predicted), 100.0 * (predicted / measured - 1.0));
}

ExitCode outcome_of_prediction(const json& prediction) {
  size_t rows = 0, fitting = 0;
  for (const json& gpu : prediction.at("gpus")) {
    for (const json& row : gpu.at("modes")) {
      if (row.at("status") == "unsupported") continue;
      ++rows;
      if (row.at("status") == "ok") ++fitting;
    }
  }
  if (fitting == rows && rows > 0) return ExitCode::ok;
  return fitting > 0 ? ExitCode::partial : ExitCode::nothing_ran;
}

}  // namespace precbench
