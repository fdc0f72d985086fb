// One training run as it stands in the result file (`modes[].runs[]`), written by the worker, kept
// and completed by the coordinator (role, seed, repeat, order_index). Every figure is optional: an
// unknown one is null, its reason stands in `unknown` of the same object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json_fields.h"

namespace precbench {

// A mode's or a run's outcome. A mode's status is its first run's that is not ok.
enum class Status { ok, unsupported, oom, diverged, timeout, error, skipped };

std::string_view name_of(Status status);
std::optional<Status> find_status(std::string_view name);

// oom, diverged, timeout and error are failures; unsupported and skipped are rows.
bool is_failure(Status status);

struct EpochRecord {
  int64_t epoch = 0;                     // from 1
  std::optional<double> train_accuracy;  // fractions
  std::optional<double> test_accuracy;
  std::optional<double> train_loss;
  std::optional<double> test_loss;
  std::optional<double> train_s;
  std::optional<double> eval_s;
  Unknowns unknown;
};

struct StepTimes {
  std::optional<double> mean, median, p95;  // ms, first step left out
  Samples samples;  // ms, every step from step 0 (strided as the loss trace)
};

struct TimeRecord {
  std::optional<double> startup_s;  // process start to the first byte of data being read
  std::optional<double> data_s;     // reading and placing the data
  std::optional<double> first_step_s;
  std::optional<double> train_s;
  std::optional<double> eval_s;
  std::optional<double> total_s;  // train_s + eval_s
  StepTimes step_ms;
  std::optional<double> samples_per_s;  // training samples over train_s
  // Of matrix products, convolutions and attention in the first step, forward and backward, by
  // their shapes: a multiplication with its addition is two.
  std::optional<double> flops_per_step;
  std::optional<double> tflops;  // flops_per_step over the median step, in 1e12 a second
  Unknowns unknown;
};

struct MemoryRecord {
  std::optional<int64_t> peak_allocated_bytes;  // resident data set excluded
  std::optional<int64_t> peak_reserved_bytes;
  std::optional<int64_t> dataset_bytes;
  bool dataset_resident = true;  // on the device; false = each batch is copied there
  std::optional<int64_t> device_used_bytes;
  std::optional<int64_t> host_peak_rss_bytes;
  json breakdown = json::object();
  Unknowns unknown;
};

struct ScalerRecord {
  double init_scale = 0;
  double final_scale = 0;
  int64_t skipped_steps = 0;
};

struct RunRecord {
  std::string role = "measure";  // measure | drift
  int64_t seed = 0;
  int64_t repeat = 0;
  int64_t order_index = 0;  // place in the order in which the runs were made, from 0
  Status status = Status::ok;
  std::optional<std::string> reason;
  std::optional<double> train_accuracy;  // running, over the last epoch
  std::optional<double> test_accuracy;
  std::optional<double> train_loss;
  std::optional<double> test_loss;
  std::optional<double> test_perplexity;  // of a text: e to the test loss; left out for images
  std::vector<EpochRecord> epochs;
  TimeRecord time;
  MemoryRecord memory;
  std::optional<ScalerRecord> scaler;  // null for a mode without one
  json numerics = json::object();
  json energy = json::object();
  // Of all processors' time while the run lasted, what went to other programs (0 to 1); left out
  // where it is not known.
  std::optional<double> others_share;
  Samples loss_trace;  // one number per optimizer step from step 0; null = non-finite
  int64_t loss_trace_stride = 1;
  Unknowns unknown;
};

// The recipe as observed in the first step, not as declared by the mode table.
struct RecipeRecord {
  std::optional<std::string> param_dtype, compute_dtype, grad_dtype, optimizer_state_dtype;
  std::optional<std::string> autocast;  // dtype of the autocast region, null where there is none
  std::optional<bool> grad_scaler;
  std::optional<bool> tf32_matmul, tf32_conv;
  std::optional<std::string> optimizer_impl;
  std::optional<std::string> memory_format;
  json details = json::object();  // mode-specific, e.g. the FP8 layers
  Unknowns unknown;
};

// What a train job returns.
struct TrainResult {
  std::string
      effective_mode;  // the mode that ran; differs from the mode asked for with --cpu-fp16 fabric
  RecipeRecord recipe;
  RunRecord run;
  std::vector<std::string> notes;  // sentences for the user about this run
  int64_t train_samples = 0;       // of the data set, after the limits
  int64_t test_samples = 0;
  // Of a simulated GPU, in the worker alone: what the last step takes at least (docs/predict.md).
  std::optional<double> least_step_s;
};

json to_json(const EpochRecord& record);
json to_json(const TimeRecord& record);
json to_json(const MemoryRecord& record);
json to_json(const RunRecord& record);
json to_json(const RecipeRecord& record);
json to_json(const TrainResult& result);

// All throw JsonFieldError naming the member.
EpochRecord epoch_record_from_json(const ObjectReader& reader);
RunRecord run_record_from_json(const ObjectReader& reader);
RecipeRecord recipe_record_from_json(const ObjectReader& reader);
TrainResult train_result_from_json(const ObjectReader& reader);

}  // namespace precbench
