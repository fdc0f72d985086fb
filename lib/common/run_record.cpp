#include "common/run_record.h"

#include <array>
#include <utility>

namespace precbench {
namespace {

constexpr std::array<std::pair<Status, std::string_view>, 7> kStatusNames = {{
    {Status::ok, "ok"},
    {Status::unsupported, "unsupported"},
    {Status::oom, "oom"},
    {Status::diverged, "diverged"},
    {Status::timeout, "timeout"},
    {Status::error, "error"},
    {Status::skipped, "skipped"},
}};

json samples_json(const Samples& samples) {
  json array = json::array();
  for (const auto& sample : samples) array.push_back(nullable(sample));
  return array;
}

template <typename Element>
json array_of(const std::vector<Element>& elements) {
  json array = json::array();
  for (const Element& element : elements) array.push_back(to_json(element));
  return array;
}

json object_or_empty(const ObjectReader& reader, const char* key) {
  const auto member = reader.optional_object(key);
  return member ? member->raw() : json::object();
}

TimeRecord time_record_from_json(const ObjectReader& reader) {
  TimeRecord record;
  record.startup_s = reader.optional<double>("startup_s");
  record.data_s = reader.optional<double>("data_s");
  record.first_step_s = reader.optional<double>("first_step_s");
  record.train_s = reader.optional<double>("train_s");
  record.eval_s = reader.optional<double>("eval_s");
  record.total_s = reader.optional<double>("total_s");
  if (const auto steps = reader.optional_object("step_ms")) {
    record.step_ms.mean = steps->optional<double>("mean");
    record.step_ms.median = steps->optional<double>("median");
    record.step_ms.p95 = steps->optional<double>("p95");
    record.step_ms.samples = steps->value_or<Samples>("samples", {});
  }
  record.samples_per_s = reader.optional<double>("samples_per_s");
  record.flops_per_step = reader.optional<double>("flops_per_step");
  record.tflops = reader.optional<double>("tflops");
  record.unknown = reader.unknown();
  return record;
}

MemoryRecord memory_record_from_json(const ObjectReader& reader) {
  MemoryRecord record;
  record.peak_allocated_bytes = reader.optional<int64_t>("peak_allocated_bytes");
  record.peak_reserved_bytes = reader.optional<int64_t>("peak_reserved_bytes");
  record.dataset_bytes = reader.optional<int64_t>("dataset_bytes");
  record.dataset_resident = reader.value_or("dataset_resident", true);
  record.device_used_bytes = reader.optional<int64_t>("device_used_bytes");
  record.host_peak_rss_bytes = reader.optional<int64_t>("host_peak_rss_bytes");
  record.breakdown = object_or_empty(reader, "breakdown");
  record.unknown = reader.unknown();
  return record;
}

std::optional<ScalerRecord> scaler_record_from_json(const ObjectReader& reader) {
  const auto scaler = reader.optional_object("scaler");
  if (!scaler) return std::nullopt;
  return ScalerRecord{scaler->required<double>("init_scale"),
                      scaler->required<double>("final_scale"),
                      scaler->required<int64_t>("skipped_steps")};
}

// A fraction between 0 and 1, so that no file can claim an accuracy of 4700 %.
std::optional<double> fraction(const ObjectReader& reader, const char* key) {
  const auto value = reader.optional<double>(key);
  if (value && (*value < 0.0 || *value > 1.0))
    reader.fail(key, "must be a fraction between 0 and 1");
  return value;
}

}  // namespace

std::string_view name_of(Status status) {
  for (const auto& [value, name] : kStatusNames) {
    if (value == status) return name;
  }
  return "error";
}

std::optional<Status> find_status(std::string_view name) {
  for (const auto& [value, status_name] : kStatusNames) {
    if (status_name == name) return value;
  }
  return std::nullopt;
}

bool is_failure(Status status) {
  return status == Status::oom || status == Status::diverged || status == Status::timeout ||
         status == Status::error;
}

json to_json(const EpochRecord& record) {
  return {{"epoch", record.epoch},
          {"train_accuracy", nullable(record.train_accuracy)},
          {"test_accuracy", nullable(record.test_accuracy)},
          {"train_loss", nullable(record.train_loss)},
          {"test_loss", nullable(record.test_loss)},
          {"train_s", nullable(record.train_s)},
          {"eval_s", nullable(record.eval_s)},
          {"unknown", record.unknown}};
}

json to_json(const TimeRecord& record) {
  return {{"startup_s", nullable(record.startup_s)},
          {"data_s", nullable(record.data_s)},
          {"first_step_s", nullable(record.first_step_s)},
          {"train_s", nullable(record.train_s)},
          {"eval_s", nullable(record.eval_s)},
          {"total_s", nullable(record.total_s)},
          {"step_ms",
           {{"mean", nullable(record.step_ms.mean)},
            {"median", nullable(record.step_ms.median)},
            {"p95", nullable(record.step_ms.p95)},
            {"samples", samples_json(record.step_ms.samples)}}},
          {"samples_per_s", nullable(record.samples_per_s)},
          {"flops_per_step", nullable(record.flops_per_step)},
          {"tflops", nullable(record.tflops)},
          {"unknown", record.unknown}};
}

json to_json(const MemoryRecord& record) {
  return {{"peak_allocated_bytes", nullable(record.peak_allocated_bytes)},
          {"peak_reserved_bytes", nullable(record.peak_reserved_bytes)},
          {"dataset_bytes", nullable(record.dataset_bytes)},
          {"dataset_resident", record.dataset_resident},
          {"device_used_bytes", nullable(record.device_used_bytes)},
          {"host_peak_rss_bytes", nullable(record.host_peak_rss_bytes)},
          {"breakdown", record.breakdown},
          {"unknown", record.unknown}};
}

json to_json(const RunRecord& record) {
  json scaler = nullptr;
  if (record.scaler) {
    scaler = {{"init_scale", record.scaler->init_scale},
              {"final_scale", record.scaler->final_scale},
              {"skipped_steps", record.scaler->skipped_steps}};
  }
  json document = {{"role", record.role},
                   {"seed", record.seed},
                   {"repeat", record.repeat},
                   {"order_index", record.order_index},
                   {"status", name_of(record.status)},
                   {"reason", nullable(record.reason)},
                   {"train_accuracy", nullable(record.train_accuracy)},
                   {"test_accuracy", nullable(record.test_accuracy)},
                   {"train_loss", nullable(record.train_loss)},
                   {"test_loss", nullable(record.test_loss)},
                   {"epochs", array_of(record.epochs)},
                   {"time", to_json(record.time)},
                   {"memory", to_json(record.memory)},
                   {"scaler", scaler},
                   {"numerics", record.numerics},
                   {"energy", record.energy},
                   {"loss_trace", samples_json(record.loss_trace)},
                   {"loss_trace_stride", record.loss_trace_stride},
                   {"unknown", record.unknown}};
  if (record.test_perplexity || record.unknown.contains("test_perplexity")) {
    document["test_perplexity"] = nullable(record.test_perplexity);
  }
  if (record.others_share) document["others_share"] = *record.others_share;
  return document;
}

json to_json(const RecipeRecord& record) {
  json document = {{"param_dtype", nullable(record.param_dtype)},
                   {"compute_dtype", nullable(record.compute_dtype)},
                   {"grad_dtype", nullable(record.grad_dtype)},
                   {"optimizer_state_dtype", nullable(record.optimizer_state_dtype)},
                   {"autocast", nullable(record.autocast)},
                   {"grad_scaler", nullable(record.grad_scaler)},
                   {"tf32_matmul", nullable(record.tf32_matmul)},
                   {"tf32_conv", nullable(record.tf32_conv)},
                   {"optimizer_impl", nullable(record.optimizer_impl)},
                   {"memory_format", nullable(record.memory_format)},
                   {"unknown", record.unknown}};
  if (!record.details.empty()) document["details"] = record.details;
  return document;
}

json to_json(const TrainResult& result) {
  return {{"effective_mode", result.effective_mode},
          {"recipe", to_json(result.recipe)},
          {"run", to_json(result.run)},
          {"notes", result.notes},
          {"train_samples", result.train_samples},
          {"test_samples", result.test_samples}};
}

EpochRecord epoch_record_from_json(const ObjectReader& reader) {
  EpochRecord record;
  record.epoch = reader.required<int64_t>("epoch");
  record.train_accuracy = fraction(reader, "train_accuracy");
  record.test_accuracy = fraction(reader, "test_accuracy");
  record.train_loss = reader.optional<double>("train_loss");
  record.test_loss = reader.optional<double>("test_loss");
  record.train_s = reader.optional<double>("train_s");
  record.eval_s = reader.optional<double>("eval_s");
  record.unknown = reader.unknown();
  return record;
}

RunRecord run_record_from_json(const ObjectReader& reader) {
  RunRecord record;
  record.role = reader.value_or<std::string>("role", "measure");
  if (record.role != "measure" && record.role != "drift")
    reader.fail("role", "must be measure or drift");
  record.seed = reader.value_or<int64_t>("seed", 0);
  record.repeat = reader.value_or<int64_t>("repeat", 0);
  record.order_index = reader.value_or<int64_t>("order_index", 0);
  const auto status_name = reader.required<std::string>("status");
  const auto status = find_status(status_name);
  if (!status) reader.fail("status", "'" + status_name + "' is not a status");
  record.status = *status;
  record.reason = reader.optional<std::string>("reason");
  record.train_accuracy = fraction(reader, "train_accuracy");
  record.test_accuracy = fraction(reader, "test_accuracy");
  record.train_loss = reader.optional<double>("train_loss");
  record.test_loss = reader.optional<double>("test_loss");
  record.test_perplexity = reader.optional<double>("test_perplexity");
  if (reader.has("epochs")) {
    for (const ObjectReader& epoch : reader.objects("epochs")) {
      record.epochs.push_back(epoch_record_from_json(epoch));
    }
  }
  if (const auto time = reader.optional_object("time")) record.time = time_record_from_json(*time);
  if (const auto memory = reader.optional_object("memory"))
    record.memory = memory_record_from_json(*memory);
  record.scaler = scaler_record_from_json(reader);
  record.numerics = object_or_empty(reader, "numerics");
  record.energy = object_or_empty(reader, "energy");
  record.others_share = reader.optional<double>("others_share");
  record.loss_trace = reader.value_or<Samples>("loss_trace", {});
  record.loss_trace_stride = reader.value_or<int64_t>("loss_trace_stride", 1);
  record.unknown = reader.unknown();
  return record;
}

RecipeRecord recipe_record_from_json(const ObjectReader& reader) {
  RecipeRecord record;
  record.param_dtype = reader.optional<std::string>("param_dtype");
  record.compute_dtype = reader.optional<std::string>("compute_dtype");
  record.grad_dtype = reader.optional<std::string>("grad_dtype");
  record.optimizer_state_dtype = reader.optional<std::string>("optimizer_state_dtype");
  record.autocast = reader.optional<std::string>("autocast");
  record.grad_scaler = reader.optional<bool>("grad_scaler");
  record.tf32_matmul = reader.optional<bool>("tf32_matmul");
  record.tf32_conv = reader.optional<bool>("tf32_conv");
  record.optimizer_impl = reader.optional<std::string>("optimizer_impl");
  record.memory_format = reader.optional<std::string>("memory_format");
  record.details = object_or_empty(reader, "details");
  record.unknown = reader.unknown();
  return record;
}

TrainResult train_result_from_json(const ObjectReader& reader) {
  TrainResult result;
  result.effective_mode = reader.required<std::string>("effective_mode");
  result.recipe = recipe_record_from_json(reader.object("recipe"));
  result.run = run_record_from_json(reader.object("run"));
  result.notes = reader.value_or<std::vector<std::string>>("notes", {});
  result.train_samples = reader.value_or<int64_t>("train_samples", 0);
  result.test_samples = reader.value_or<int64_t>("test_samples", 0);
  return result;
}

}  // namespace precbench
