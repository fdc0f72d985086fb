#include "train/loop/run_record_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/vanishing_eps.h"
#include "train/base/dtypes.h"
#include "train/measure/process.h"

namespace precbench::train {
namespace {

// The reason of a figure that is no number, and what follows it in a note.
constexpr const char* kNotFinite = "not a finite number";

// Longer traces keep every k-th step (design.md §6).
constexpr size_t kTraceLimit = 10000;

// Both FP8 formats have one name.
std::string names_of(const std::set<at::ScalarType>& types) {
  std::set<std::string> different;
  for (const at::ScalarType type : types) different.insert(dtype_name(type));
  std::string names;
  for (const std::string& name : different) names.append(names.empty() ? "" : "+").append(name);
  return names;
}

RecipeRecord observed_recipe(const TrainJob& job, const DeviceModule& device, Precision& precision,
                             const Optimizer& optimizer, const RunObservers& watched) {
  RecipeRecord recipe;
  recipe.param_dtype = dtype_name(optimizer.parameters().front().scalar_type());
  if (watched.dtypes.observed() && !watched.dtypes.observed()->compute.empty()) {
    recipe.compute_dtype = names_of(watched.dtypes.observed()->compute);
  } else {
    recipe.unknown["compute_dtype"] = "no matrix product or convolution was observed";
  }
  if (watched.dtypes.observed() && !watched.dtypes.observed()->attention.empty()) {
    recipe.details["attention_dtype"] = names_of(watched.dtypes.observed()->attention);
  }
  if (const Float8Layers* float8 = precision.float8()) recipe.details["fp8"] = float8->report();
  if (job.attention != "default") recipe.details["attention"] = job.attention;
  if (const auto graph = watched.graph.use()) {
    recipe.details["cuda_graph"] = {{"replayed_steps", graph->replayed_steps},
                                    {"why_none", nullable(graph->why_none)}};
  }
  if (watched.dtypes.gradient()) recipe.grad_dtype = dtype_name(*watched.dtypes.gradient());
  const auto state = optimizer.state();
  if (state.empty()) {
    recipe.unknown["optimizer_state_dtype"] =
        job.optimizer.name == "sgd" && job.optimizer.momentum == 0
            ? "SGD without momentum keeps no state"
            : "no step has been taken: every one was skipped";
  } else {
    recipe.optimizer_state_dtype = dtype_name(state.front().scalar_type());
  }
  if (watched.dtypes.observed() && watched.dtypes.observed()->autocast) {
    recipe.autocast = dtype_name(*watched.dtypes.observed()->autocast);
  } else {
    recipe.unknown["autocast"] = "this mode has no autocast region";
  }
  recipe.grad_scaler = precision.scaler() != nullptr;
  recipe.tf32_matmul = device.tf32_matmul();
  recipe.tf32_conv = device.tf32_conv();
  for (const auto& [key, value] :
       {std::pair{"tf32_matmul", recipe.tf32_matmul}, std::pair{"tf32_conv", recipe.tf32_conv}}) {
    if (!value) recipe.unknown[key] = "this device has no TF32";
  }
  recipe.optimizer_impl = job.optimizer.impl;
  recipe.memory_format = job.memory_format;
  return recipe;
}

TimeRecord time_record(const RunObservers& watched, const RunMeasurements& measured,
                       int64_t stride) {
  TimeRecord time;
  time.startup_s = measured.startup_s;
  if (!time.startup_s) time.unknown["startup_s"] = "/proc/self/stat could not be read";
  time.data_s = measured.data_s;
  time.first_step_s = watched.clock.milliseconds().at(0) / 1e3;
  time.train_s = measured.train_s;
  time.eval_s = measured.eval_s;
  if (measured.eval_s) {
    time.total_s = measured.train_s + *measured.eval_s;
  } else {
    time.unknown["eval_s"] = time.unknown["total_s"] = "the run stopped before its evaluation";
  }
  time.step_ms = summarize_steps(watched.clock.milliseconds());
  if (!time.step_ms.mean) time.unknown["step_ms"] = "there was only one step, the first";
  for (size_t i = 0; i < watched.clock.milliseconds().size(); i += static_cast<size_t>(stride)) {
    time.step_ms.samples.emplace_back(watched.clock.milliseconds()[i]);
  }
  if (measured.train_s > 0) {
    time.samples_per_s = static_cast<double>(measured.train_samples) / measured.train_s;
  } else {
    time.unknown["samples_per_s"] = "training took no measurable time";
  }
  if (watched.dtypes.observed() && watched.dtypes.observed()->flops > 0) {
    time.flops_per_step = watched.dtypes.observed()->flops;
  } else {
    time.unknown["flops_per_step"] = "no matrix product or convolution was observed";
  }
  if (time.flops_per_step && time.step_ms.median && *time.step_ms.median > 0) {
    time.tflops = *time.flops_per_step / (*time.step_ms.median * 1e-3) / 1e12;
  } else {
    time.unknown["tflops"] =
        time.flops_per_step ? "there was only one step, the first" : time.unknown["flops_per_step"];
  }
  return time;
}

MemoryRecord memory_record(const RunMeasurements& measured) {
  MemoryRecord memory;
  memory.peak_allocated_bytes = measured.memory.peak_allocated_bytes;
  memory.rank_peak_allocated_bytes = measured.memory_of_ranks;
  memory.peak_reserved_bytes = measured.memory.peak_reserved_bytes;
  memory.dataset_bytes = measured.dataset_bytes;
  memory.dataset_resident = measured.dataset_resident;
  memory.device_used_bytes = measured.used_bytes;
  memory.host_peak_rss_bytes = peak_resident_bytes();
  memory.unknown = measured.memory.unknown;
  if (!memory.device_used_bytes) {
    memory.unknown.try_emplace("device_used_bytes", "the driver does not tell it");
  }
  if (!memory.host_peak_rss_bytes) {
    memory.unknown["host_peak_rss_bytes"] = "/proc/self/status has no VmHWM";
  }
  if (measured.memory_breakdown) {
    memory.breakdown = *measured.memory_breakdown;
  } else {
    memory.unknown["breakdown"] = "no step was done";
  }
  return memory;
}

void copy_last_epoch(RunRecord& run, const RunMeasurements& measured, bool pilot) {
  const std::string why = "the run stopped before the end of an epoch";
  for (const char* key : {"train_accuracy", "test_accuracy", "train_loss", "test_loss"}) {
    if (measured.epochs.empty()) run.unknown[key] = why;
  }
  if (measured.is_text && measured.epochs.empty()) run.unknown["test_perplexity"] = why;
  run.epochs = measured.epochs;
  if (measured.epochs.empty()) return;
  const EpochRecord& last = measured.epochs.back();
  run.train_accuracy = last.train_accuracy;
  run.train_loss = last.train_loss;
  run.test_accuracy = last.test_accuracy;
  run.test_loss = last.test_loss;
  run.unknown = last.unknown;
  run.unknown.erase("eval_s");
  if (pilot) {
    run.test_accuracy.reset();
    run.test_loss.reset();
    run.unknown["test_accuracy"] = run.unknown["test_loss"] = "a pilot evaluates one batch";
  }
  if (!measured.is_text) return;
  if (run.test_loss) run.test_perplexity = std::exp(*run.test_loss);
  if (!run.test_perplexity || !std::isfinite(*run.test_perplexity)) {
    run.test_perplexity.reset();
    run.unknown["test_perplexity"] = run.unknown.contains("test_loss")
                                         ? run.unknown.at("test_loss")
                                         : "e to the test loss is not a finite number";
  }
}

std::vector<std::string> notes_for(const TrainJob& job, const ModeTraits& mode,
                                   const DeviceModule& device) {
  std::vector<std::string> notes;
  const OptimizerJob& optimizer = job.optimizer;
  if (eps_vanishes(mode, optimizer)) {
    notes.push_back(
        "eps " + json(optimizer.eps).dump() + " is 0 in float16: " + optimizer.name + " with " +
        optimizer.impl +
        " divides by zero where a squared gradient vanishes; use a larger one, --eps 1e-4");
  }
  if (!mode.fabric_on_cpu.empty() && device.is_cpu()) {
    notes.push_back("Lightning would run " + std::string(mode.fabric_on_cpu) +
                    " here: --cpu-fp16 fabric");
  }
  if (mode.name != job.mode) {
    notes.push_back(job.mode + " ran as " + std::string(mode.name) +
                    ", as Lightning does on a CPU");
  }
  if (mode.grad_scaler && optimizer.impl == "fused" &&
      (optimizer.clip_norm || optimizer.clip_value)) {
    notes.emplace_back(
        "Lightning refuses clipping with a fused optimizer in 16-mixed; here gradients are "
        "unscaled "
        "before they are clipped");
  }
  return notes;
}

// Of so many skipped steps, others are too few to have trained the model: its figures are nearly
// those of the weights that it began with.
constexpr double kHardlyTrained = 0.5;

void note_results(TrainResult& result, size_t skipped, size_t steps, const DataTroubles& troubles) {
  if (skipped < steps &&
      static_cast<double>(skipped) >= kHardlyTrained * static_cast<double>(steps)) {
    result.notes.push_back("the loss scaler skipped " + std::to_string(skipped) + " of " +
                           std::to_string(steps) + " steps: hardly anything was trained");
  }
  const Unknowns none;
  const RunRecord& run = result.run;
  const Unknowns& unknown = run.epochs.empty() ? none : run.epochs.back().unknown;
  const auto note_split = [&](const char* loss, const char* words, const std::string& trouble) {
    const auto why = unknown.find(loss);
    if (why != unknown.end() && why->second.starts_with(kNotFinite)) {
      result.notes.push_back(words + why->second);
    } else if (!trouble.empty() && run.reason.value_or("").find(trouble) == std::string::npos) {
      result.notes.push_back(trouble);
    }
  };
  note_split("train_loss", "the training loss is ", troubles.train);
  note_split("test_loss", "the test loss is ", troubles.test);
}

// A simulated device computes nothing and takes no time.
void withhold_what_is_not_computed(RunRecord& run) {
  const char* why = "a simulated GPU counts bytes and computes nothing";
  const auto forget = [why](auto& figure, Unknowns& unknown, const char* key) {
    figure.reset();
    unknown[key] = why;
  };
  const auto forget_results = [&forget](auto& record) {
    forget(record.train_accuracy, record.unknown, "train_accuracy");
    forget(record.test_accuracy, record.unknown, "test_accuracy");
    forget(record.train_loss, record.unknown, "train_loss");
    forget(record.test_loss, record.unknown, "test_loss");
  };
  forget_results(run);
  for (EpochRecord& epoch : run.epochs) {
    forget_results(epoch);
    forget(epoch.train_s, epoch.unknown, "train_s");
    forget(epoch.eval_s, epoch.unknown, "eval_s");
  }
  TimeRecord& time = run.time;
  forget(time.first_step_s, time.unknown, "first_step_s");
  forget(time.train_s, time.unknown, "train_s");
  forget(time.eval_s, time.unknown, "eval_s");
  forget(time.total_s, time.unknown, "total_s");
  forget(time.samples_per_s, time.unknown, "samples_per_s");
  forget(time.tflops, time.unknown, "tflops");
  time.step_ms = StepTimes();
  time.unknown["step_ms"] = why;
  run.numerics = json::object();
  run.loss_trace.assign(run.loss_trace.size(), std::nullopt);
  run.unknown["loss_trace"] = run.unknown["numerics"] = why;
}

}  // namespace

void note_non_finite(Unknowns& unknown, const char* key, std::optional<double>& value,
                     const std::string& trouble) {
  if (!value || std::isfinite(*value)) return;
  value.reset();
  unknown[key] = trouble.empty() ? kNotFinite : kNotFinite + (": " + trouble);
}

void check_recipe(const ModeTraits& mode, Precision& precision, const DtypeWatch& dtypes,
                  const Optimizer& optimizer) {
  const auto require = [&mode](const std::string& what, const std::string& observed,
                               Dtype expected) {
    if (observed == name_of(expected)) return;
    throw std::runtime_error("in mode " + std::string(mode.name) + " the " + what + " were " +
                             observed + " in the first step, not " +
                             std::string(name_of(expected)));
  };
  require("parameters", dtype_name(optimizer.parameters().front().scalar_type()), mode.parameters);
  if (dtypes.gradient()) {
    require("gradients", dtype_name(*dtypes.gradient()), mode.parameters);
  }
  for (const torch::Tensor& state : optimizer.state()) {
    require("optimizer's states", dtype_name(state.scalar_type()), mode.parameters);
  }
  // Where FP8 layers take some of the products, the report names them.
  if (precision.float8() == nullptr && dtypes.observed() && !dtypes.observed()->compute.empty()) {
    require("inputs of matrix products and convolutions", names_of(dtypes.observed()->compute),
            mode.compute);
  }
}

TrainResult build_result(const TrainJob& job, const ModeTraits& mode, const DeviceModule& device,
                         Precision& precision, const Optimizer& optimizer,
                         const RunObservers& watched, const StepLog& log,
                         const RunMeasurements& measured) {
  TrainResult result;
  result.effective_mode = mode.name;
  result.recipe = observed_recipe(job, device, precision, optimizer, watched);
  RunRecord& run = result.run;
  run.seed = job.seed;
  const auto& steps = log.steps();
  const size_t stride = std::max<size_t>((steps.size() + kTraceLimit - 1) / kTraceLimit, 1);
  run.loss_trace_stride = static_cast<int64_t>(stride);
  for (size_t i = 0; i < steps.size(); i += stride) {
    run.loss_trace.push_back(std::isfinite(steps[i].loss) ? std::optional(steps[i].loss)
                                                          : std::nullopt);
  }
  copy_last_epoch(run, measured, job.pilot);
  run.time = time_record(watched, measured, run.loss_trace_stride);
  run.memory = memory_record(measured);
  const auto skipped = std::count_if(steps.begin(), steps.end(),
                                     [](const StepRecord& step) { return step.skipped; });
  if (GradScaler* scaler = precision.scaler()) {
    run.scaler = ScalerRecord{kInitialScale, scaler->current_scale(), skipped};
  } else {
    run.unknown["scaler"] = "this mode has no loss scaling";
  }
  if (measured.numerics) {
    run.numerics = *measured.numerics;
  } else {
    run.unknown["numerics"] = "a pilot does not look at them";
  }
  run.unknown["energy"] = "not measured in this version";
  if (device.is_simulated()) withhold_what_is_not_computed(run);
  if (watched.divergence.reason()) {
    run.status = Status::diverged;
    run.reason = watched.divergence.reason();
    if (!measured.troubles.train.empty()) *run.reason += "; " + measured.troubles.train;
  }
  result.notes = notes_for(job, mode, device);
  note_results(result, static_cast<size_t>(skipped), steps.size(), measured.troubles);
  if (const auto graph = watched.graph.use(); graph && graph->why_none) {
    result.notes.push_back("no CUDA graph: " + *graph->why_none);
  }
  if (const Float8Layers* float8 = precision.float8()) {
    for (std::string& note : float8->notes(std::string(name_of(mode.parameters)))) {
      result.notes.push_back(std::move(note));
    }
  }
  return result;
}

}  // namespace precbench::train
