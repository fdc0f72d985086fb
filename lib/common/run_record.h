// One training run as it stands in the result file (`modes[].runs[]`), written by the worker, kept
// and completed by the coordinator (role, seed, repeat, order_index). Every figure is optional: an
// unknown one is null, its reason stands in `unknown` of the same object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/enum_words.h"
#include "common/fields.h"
#include "common/json_fields.h"
#include "common/limits.h"

namespace precbench {

// A mode's or a run's outcome. A mode's status is its first run's that is not ok.
enum class Status { ok, unsupported, oom, diverged, timeout, error, skipped };
template <>
inline constexpr std::array<std::string_view, 7> kWordsOf<Status> = {
    "ok", "unsupported", "oom", "diverged", "timeout", "error", "skipped"};

// drift: the first run of the reference once more, at the end.
enum class Role { measure, drift };
template <>
inline constexpr std::array<std::string_view, 2> kWordsOf<Role> = {"measure", "drift"};

// unsupported and skipped are rows.
constexpr bool is_failure(Status status) {
  return status == Status::oom || status == Status::diverged || status == Status::timeout ||
         status == Status::error;
}

// So that no file can claim an accuracy of 4700 %.
inline constexpr const char* kFraction = "a fraction between 0 and 1";

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

template <>
inline constexpr auto kFields<EpochRecord> =
    std::tuple{Field{"epoch", &EpochRecord::epoch}.required().from(0),
               Field{"train_accuracy", &EpochRecord::train_accuracy}.from(0, 1, kFraction),
               Field{"test_accuracy", &EpochRecord::test_accuracy}.from(0, 1, kFraction),
               Field{"train_loss", &EpochRecord::train_loss},
               Field{"test_loss", &EpochRecord::test_loss},
               Field{"train_s", &EpochRecord::train_s}.from(0, limits::kLongestS),
               Field{"eval_s", &EpochRecord::eval_s}.from(0, limits::kLongestS),
               Field{"unknown", &EpochRecord::unknown}};

struct StepTimes {
  std::optional<double> mean, median, p95;  // ms, first step left out
  Samples samples;  // ms, every step from step 0 (strided as the loss trace)
};

template <>
inline constexpr auto kFields<StepTimes> =
    std::tuple{Field{"mean", &StepTimes::mean}.from(0, 1000 * limits::kLongestS),
               Field{"median", &StepTimes::median}.from(0, 1000 * limits::kLongestS),
               Field{"p95", &StepTimes::p95}.from(0, 1000 * limits::kLongestS),
               Field{"samples", &StepTimes::samples}};

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

template <>
inline constexpr auto kFields<TimeRecord> =
    std::tuple{Field{"startup_s", &TimeRecord::startup_s}.from(0, limits::kLongestS),
               Field{"data_s", &TimeRecord::data_s}.from(0, limits::kLongestS),
               Field{"first_step_s", &TimeRecord::first_step_s}.from(0, limits::kLongestS),
               Field{"train_s", &TimeRecord::train_s}.from(0, limits::kLongestS),
               Field{"eval_s", &TimeRecord::eval_s}.from(0, limits::kLongestS),
               Field{"total_s", &TimeRecord::total_s}.from(0, limits::kLongestS),
               Field{"step_ms", &TimeRecord::step_ms},
               Field{"samples_per_s", &TimeRecord::samples_per_s}.from(0, limits::kMostSamplesPerS),
               Field{"flops_per_step", &TimeRecord::flops_per_step}.from(0),
               Field{"tflops", &TimeRecord::tflops}.from(0),
               Field{"unknown", &TimeRecord::unknown}};

struct MemoryRecord {
  // Resident data set excluded; of several devices the largest.
  std::optional<int64_t> peak_allocated_bytes;
  std::vector<int64_t> rank_peak_allocated_bytes;  // of each of several devices
  std::optional<int64_t> peak_reserved_bytes;
  std::optional<int64_t> dataset_bytes;
  bool dataset_resident = true;  // on the device; false = each batch is copied there
  std::optional<int64_t> device_used_bytes;
  std::optional<int64_t> host_peak_rss_bytes;
  json breakdown = json::object();
  Unknowns unknown;
};

template <>
inline constexpr auto kFields<MemoryRecord> =
    std::tuple{Field{"peak_allocated_bytes", &MemoryRecord::peak_allocated_bytes}.from(0),
               Field{"rank_peak_allocated_bytes", &MemoryRecord::rank_peak_allocated_bytes}
                   .from(0)
                   .left_out_if_empty(),
               Field{"peak_reserved_bytes", &MemoryRecord::peak_reserved_bytes}.from(0),
               Field{"dataset_bytes", &MemoryRecord::dataset_bytes}.from(0),
               Field{"dataset_resident", &MemoryRecord::dataset_resident},
               Field{"device_used_bytes", &MemoryRecord::device_used_bytes}.from(0),
               Field{"host_peak_rss_bytes", &MemoryRecord::host_peak_rss_bytes}.from(0),
               Field{"breakdown", &MemoryRecord::breakdown},
               Field{"unknown", &MemoryRecord::unknown}};

// What a step of one of several devices sends to the others and gets from them. The bytes are those
// of the tensors: how often they travel is the library's.
struct CommunicationRecord {
  int64_t gradient_bytes = 0;
  int64_t buffer_bytes = 0;  // of BatchNorm, from the first device
  // Mean from the first gradients that are sent to the last that have come, and the part of it in
  // which the backward pass still went on.
  std::optional<double> ms, hidden_ms;
  Unknowns unknown;
};

template <>
inline constexpr auto kFields<CommunicationRecord> = std::tuple{
    Field{"gradient_bytes", &CommunicationRecord::gradient_bytes}.required().from(0),
    Field{"buffer_bytes", &CommunicationRecord::buffer_bytes}.required().from(0),
    Field{"ms", &CommunicationRecord::ms}.from(0, 1000 * limits::kLongestS),
    Field{"hidden_ms", &CommunicationRecord::hidden_ms}.from(0, 1000 * limits::kLongestS),
    Field{"unknown", &CommunicationRecord::unknown}};

struct ScalerRecord {
  double init_scale = 0;
  double final_scale = 0;
  int64_t skipped_steps = 0;
};

template <>
inline constexpr auto kFields<ScalerRecord> =
    std::tuple{Field{"init_scale", &ScalerRecord::init_scale}.required(),
               Field{"final_scale", &ScalerRecord::final_scale}.required(),
               Field{"skipped_steps", &ScalerRecord::skipped_steps}.required().from(0)};

// Of --target-accuracy or --target-perplexity: when the test set first reached it, or that it did
// not.
struct TargetRecord {
  std::optional<double> accuracy, perplexity;  // what was asked for: one of them
  bool is_reached = false;
  std::optional<int64_t> epoch;  // from 1
  std::optional<int64_t> steps;  // optimizer steps by then
  std::optional<double> time_s;  // training and evaluations by then
  Unknowns unknown;
};

template <>
inline constexpr auto kFields<TargetRecord> =
    std::tuple{Field{"accuracy", &TargetRecord::accuracy}.from(0, 1, kFraction).left_out_if_empty(),
               Field{"perplexity", &TargetRecord::perplexity}.from(1).left_out_if_empty(),
               Field{"reached", &TargetRecord::is_reached}.required(),
               Field{"epoch", &TargetRecord::epoch}.from(1),
               Field{"steps", &TargetRecord::steps}.from(0),
               Field{"time_s", &TargetRecord::time_s}.from(0, limits::kLongestS),
               Field{"unknown", &TargetRecord::unknown}};

struct RunRecord {
  Role role = Role::measure;
  int64_t seed = 0;
  int64_t repeat = 0;
  int64_t order_index = 0;         // place in the order in which the runs were made, from 0
  std::optional<int64_t> machine;  // of a merged result: the part that made it, from 0
  Status status = Status::ok;
  std::optional<std::string> reason;
  std::optional<double> train_accuracy;  // running, over the last epoch
  std::optional<double> test_accuracy;
  std::optional<double> train_loss;
  std::optional<double> test_loss;
  std::optional<double> test_perplexity;  // of a text: e to the test loss; left out for images
  std::vector<EpochRecord> epochs;
  std::optional<TargetRecord> target;  // left out where none was asked for
  TimeRecord time;
  MemoryRecord memory;
  std::optional<CommunicationRecord> communication;  // left out where one device trained
  std::optional<ScalerRecord> scaler;                // null for a mode without one
  json numerics = json::object();
  json energy = json::object();
  // Of all processors' time while the run lasted, what went to other programs (0 to 1); left out
  // where it is not known.
  std::optional<double> others_share;
  Samples loss_trace;  // one number per optimizer step from step 0; null = non-finite
  int64_t loss_trace_stride = 1;
  Unknowns unknown;
};

template <>
inline constexpr auto kFields<RunRecord> =
    std::tuple{Field{"role", &RunRecord::role},
               Field{"seed", &RunRecord::seed}.from(0),
               Field{"repeat", &RunRecord::repeat}.from(0),
               Field{"order_index", &RunRecord::order_index}.from(0),
               Field{"machine", &RunRecord::machine}.from(0).left_out_if_empty(),
               Field{"status", &RunRecord::status}.required(),
               Field{"reason", &RunRecord::reason},
               Field{"train_accuracy", &RunRecord::train_accuracy}.from(0, 1, kFraction),
               Field{"test_accuracy", &RunRecord::test_accuracy}.from(0, 1, kFraction),
               Field{"train_loss", &RunRecord::train_loss},
               Field{"test_loss", &RunRecord::test_loss},
               Field{"test_perplexity", &RunRecord::test_perplexity}.left_out_if_empty(),
               Field{"epochs", &RunRecord::epochs},
               Field{"target", &RunRecord::target}.left_out_if_empty(),
               Field{"time", &RunRecord::time},
               Field{"memory", &RunRecord::memory},
               Field{"communication", &RunRecord::communication}.left_out_if_empty(),
               Field{"scaler", &RunRecord::scaler},
               Field{"numerics", &RunRecord::numerics},
               Field{"energy", &RunRecord::energy},
               Field{"others_share", &RunRecord::others_share}
                   .from(0, 1, "between 0 and 1")
                   .left_out_if_empty(),
               Field{"loss_trace", &RunRecord::loss_trace},
               Field{"loss_trace_stride", &RunRecord::loss_trace_stride}.from(0),
               Field{"unknown", &RunRecord::unknown}};

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

template <>
inline constexpr auto kFields<RecipeRecord> =
    std::tuple{Field{"param_dtype", &RecipeRecord::param_dtype},
               Field{"compute_dtype", &RecipeRecord::compute_dtype},
               Field{"grad_dtype", &RecipeRecord::grad_dtype},
               Field{"optimizer_state_dtype", &RecipeRecord::optimizer_state_dtype},
               Field{"autocast", &RecipeRecord::autocast},
               Field{"grad_scaler", &RecipeRecord::grad_scaler},
               Field{"tf32_matmul", &RecipeRecord::tf32_matmul},
               Field{"tf32_conv", &RecipeRecord::tf32_conv},
               Field{"optimizer_impl", &RecipeRecord::optimizer_impl},
               Field{"memory_format", &RecipeRecord::memory_format},
               Field{"details", &RecipeRecord::details}.left_out_if_empty(),
               Field{"unknown", &RecipeRecord::unknown}};

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

template <>
inline constexpr auto kFields<TrainResult> =
    std::tuple{Field{"effective_mode", &TrainResult::effective_mode}.required(),
               Field{"recipe", &TrainResult::recipe}.required(),
               Field{"run", &TrainResult::run}.required(),
               Field{"notes", &TrainResult::notes},
               Field{"train_samples", &TrainResult::train_samples},
               Field{"test_samples", &TrainResult::test_samples}};

}  // namespace precbench
