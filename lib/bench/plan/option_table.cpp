// One row per option, in the order of the help.
#include <algorithm>

#include "bench/plan/option_rows.h"
#include "bench/report/formats.h"
#include "common/names.h"

namespace precbench {
namespace {

template <typename Rows>
std::vector<std::string> names_of(const Rows& rows, std::string_view first) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return name == first; });
  return names;
}

void add_choice_or_file(OptionTable& table, const char* name, std::vector<std::string> words,
                        const char* help) {
  OptionSpec& row = table.add(name, OptionType::choice, "", words.front().c_str(), help);
  allow(row, std::move(words));
  row.takes_file = true;
  row.is_basic = true;
}

void add_seeds(OptionTable& table, const char* name, OptionType type, const char* hint,
               const char* default_text, const char* help) {
  OptionSpec& row = table.add(name, type, hint, default_text, help);
  row.high = kMaxSeed;
  row.is_basic = true;
}

// A number for all modes, or each mode's own.
void add_batch_size(OptionTable& table) {
  OptionSpec& row = table.add(&TrainJob::batch_size,
                              "samples per batch, in training and evaluation; max: the largest "
                              "that fits, for each mode");
  row.is_basic = true;
  row.allowed = {kLargestBatch};
  row.hint = std::string("N|") + kLargestBatch;
  row.set = [set = row.set](Plan& plan, const json& value) {
    plan.own_batches = value.is_string();
    if (!plan.own_batches) set(plan, value);
  };
}

void add_what(OptionTable& table) {
  table.begin("what");
  table
      .add("modes", OptionType::list, "MODE,...", "16-mixed,bf16-mixed,32-true",
           "precision modes to compare, in this order; all; native")
      .is_basic = true;
  add_seeds(table, "seed", OptionType::integer, "N", "42", "seed of weights and data order");
  add_seeds(table, "seeds", OptionType::integers, "N,...", "",
            "several seeds: the noise of accuracy");
  table
      .add(Field{"repeats", &Plan::repeats}.from(1, 1000),
           "runs of each mode and seed: the noise of time")
      .is_basic = true;
  table
      .add("config", OptionType::text, "FILE|NAME", "",
           "a workload: a file, or a name of `list configs`")
      .is_basic = true;
  add_choice_or_file(table, "model", names_of(kModels, "cnn"),
                     "what to train; FILE.pt or FILE.py:NAME: your own; timm:NAME");
  table.add("model-options", OptionType::list, "NAME=N,...", "",
            "sizes of the model, as layers=4,width=128; `list models` has their names");
  add_choice_or_file(
      table, "dataset", names_of(kDatasets, "fashion-mnist"),
      "what to train on; FILE.pt: tensors; FILE.py:NAME; another FILE: text for gpt");
  table.add(&DatasetJob::dir, "folder of the data set's files, or its archive", "DIR");
  table.add(&DatasetJob::limit_train, "use the first N training samples; 0 = all");
  table.add(&DatasetJob::limit_test, "use the first N test samples; 0 = all");
  table.add(&TrainJob::epochs, "passes over the training data").is_basic = true;
  table.add(&TrainJob::steps, "optimizer steps in all; 0 = whole epochs");
  add_batch_size(table);
  table.add(&DatasetJob::image_size, "resize images to N pixels; 0 = as in the files");
  table.add(&DatasetJob::augment, "random crop and flip of the training images");
  table.add(&DatasetJob::synthetic_shape, "channels,height,width of --dataset synthetic", "C,H,W");
  table.add(&DatasetJob::synthetic_classes, "classes of --dataset synthetic");
  table.add(&DatasetJob::synthetic_train, "training samples of --dataset synthetic");
  table.add(&DatasetJob::synthetic_test, "test samples of --dataset synthetic");
}

void add_training(OptionTable& table) {
  table.begin("training");
  table.add(&OptimizerJob::name, "optimizer");
  // The optimizer's own defaults: kOptimizers has them.
  table
      .add(&OptimizerJob::lr,
           "learning rate (default: the optimizer's; sgd 0.05, adam and adamw 0.001)")
      .default_text = "";
  table.add(Field{"lr_scale", &Plan::lr_scale},
            "with --batch-size max: learning rate by a mode's batch beside the reference's");
  table.add(&OptimizerJob::momentum, "of sgd (default 0.9)").default_text = "";
  table.add(&OptimizerJob::nesterov, "Nesterov momentum (sgd)");
  table.add(&OptimizerJob::weight_decay, "weight decay (default: 0; adamw 0.01)").default_text = "";
  table.add(&OptimizerJob::beta1, "of adam and adamw: decay of the averaged gradients");
  table.add(&OptimizerJob::beta2, "of adam and adamw: decay of the averaged squares");
  table.add(&OptimizerJob::eps, "of adam and adamw: added to the root of the averaged squares");
  table.add(&ScheduleJob::name, "learning rate over the run");
  table.add(&ScheduleJob::warmup_steps, "steps of linear warm-up");
  table.add(&ScheduleJob::on_skip, "does a step that the scaler skips advance the schedule");
  table.add(&TrainJob::label_smoothing, "of the cross entropy");
  table.add(&OptimizerJob::accumulate, "batches per optimizer step");
  table.add(&OptimizerJob::clip_norm, "clip the gradients' total norm");
  table.add(&OptimizerJob::clip_value, "clip each gradient element");
  table.add(&TrainJob::loss_autocast,
            "loss inside the autocast region, the other form of Fabric's guide");
  table.add(&TrainJob::init, "draw the weights in fp32 and cast, or in the mode's dtype");
  table.add(&TrainJob::init_weights, "start from this state dictionary", "FILE");
  table.add(&TrainJob::save_weights,
            "write the trained weights; of several runs into a folder (weights/)", "FILE");
  table.add(&TrainJob::eval_every, "epochs between evaluations; 0 = after the last only");
  table.add(
      &TrainJob::target_accuracy,
      "train each mode until the test set reaches this (0.87), at most --epochs, and compare when");
  table.add(&TrainJob::target_perplexity,
            "the same for text: until the test set's perplexity is down to this (12.5)");
  table.add(
      &TrainJob::dump_trace,
      "write loss, gradient norm and scale of every step; of several runs into a folder (traces/)",
      "FILE");
  table.add(&TrainJob::dump_trace_weights_every,
            "steps between the trace's checksums of the weights; 0 = none");
}

void add_how(OptionTable& table) {
  table.begin("how");
  table.add(Field{"device", &Plan::device}, "auto | cpu | cuda | cuda:N", "DEVICE").is_basic = true;
  table
      .add(&TrainJob::devices,
           "devices that train each model together, as DistributedDataParallel; the batch size is "
           "each one's; 1,2,4: one after the other, at one global batch")
      .is_basic = true;
  table.add(&TrainJob::grad_compression,
            "format in which devices send each other gradients, by DDP's hooks");
  table.add("engine", OptionType::list, "libtorch|fabric,...", "libtorch",
            "who trains: precbench itself, or Lightning Fabric in Python; both: side by side");
  table
      .add(Field{"threads", &Plan::threads}.from(1, 4096),
           "CPU threads (default: physical cores that we may use)")
      .default_text = "";
  table
      .add(Field{"profile", &Plan::profile}.one_of("fabric tuned"),
           "fabric: as in your own training; tuned: as fast as each mode can be here")
      .is_basic = true;
  table.add(&TrainJob::tf32, "TF32 in 32-true (default: as PyTorch)");
  table.add(&TrainJob::cpu_fp16, "16-mixed on a CPU: real fp16, or bf16-mixed as Lightning would");
  table.add(&TrainJob::deterministic, "deterministic algorithms (auto = as Fabric: off)");
  table.add(&OptimizerJob::impl,
            "auto = Python's default (loop on CPU, foreach on CUDA); tuned: fused");
  table.add(&TrainJob::memory_format,
            "layout of images and convolution weights (auto = contiguous; tuned: channels_last)");
  table.add(&TrainJob::gemm,
            "fp32 matrix product on a CPU (auto = default; tuned: the faster one)");
  table.add(&TrainJob::attention,
            "attention by PyTorch's kernel or by separate products (auto = default; tuned on a "
            "CPU: the faster)");
  table.add(&Float8Job::recipe,
            "scaling in transformer-engine: by past tensors, as Fabric, or by each one");
  table.add(&Float8Job::margin, "delayed: divide scales by 2^N");
  table.add(&Float8Job::history, "delayed: passes that a maximum is kept for");
  table.add(&Float8Job::amax, "delayed: which maximum of the history");
  table.add(&TrainJob::cuda_graph,
            "record a whole step as a CUDA graph and replay it; auto = fused then");
  table.add(&TrainJob::compile, "torch.compile, of --engine fabric");
  table.add(&TrainJob::cudnn_benchmark, "let cuDNN time its algorithms (CUDA)");
}

void add_control(OptionTable& table) {
  table.begin("control");
  table.add("reference", OptionType::text, "MODE", "",
            "mode that others are compared with (default 32-true, else the first)");
  table
      .add(Field{"order", &Plan::order},
           "order of the runs (default given; rotate with repeats or seeds)")
      .default_text = "";
  table.add("shard", OptionType::text, "I/N", "",
            "do the I-th of N parts of the runs; precbench merge joins the parts' files");
  table.duration(Field{"timeout", &Plan::timeout_s}, "end a run that takes longer");
  table.add(Field{"pilot", &Plan::pilot_steps}.from(0, 1000),
            "steps of each mode to try first; 0 = none");
  table.duration(Field{"budget", &Plan::budget_s}, "skip modes that are projected to take longer")
      .is_basic = true;
  table.add(Field{"emulated", &Plan::emulated}, "run or skip modes that this device only emulates");
  OptionSpec& limit =
      table.add(&TrainJob::memory_limit_bytes,
                "let a run that needs more end as out of memory; the data set is not counted");
  limit.type = OptionType::size;
  limit.hint = "500MiB|2GiB";
  limit.default_text = "";
  table.add(Field{"find-max-batch", &Plan::find_max_batch},
            "instead of training, find the largest batch size that fits, per mode");
  table.add(
      "checkpoint-every", OptionType::text, "N|90s", "",
      "steps, or time, between checkpoints that an interrupted run goes on from, by --resume");
  table.add(Field{"resume", &Plan::resume}, "go on with an interrupted comparison's result file",
            "FILE");
  table.add(&TrainJob::keep_going, "train on after a run has diverged");
  table.add(Field{"results-dir", &Plan::results_dir}, "folder for result files", "DIR").is_basic =
      true;
  table.add("no-save", OptionType::flag, "", "false", "do not write a result file");
  table.add(Field{"baseline", &GatePlan::baseline}, "result file to compare with", "FILE");
  table.add(Field{"fail-on", &GatePlan::fail_on},
            "gate rule: time:5%, memory:2%, test_accuracy:0.5pp, time[16-mixed]:10%", "RULE");
  table.add(Field{"strict-gate", &GatePlan::strict}, "exit 6 when the gate cannot decide");
  table.add(Field{"dry-run", &Plan::dry_run}, "print what would run, and stop");
  table.add("context", OptionType::repeatable, "KEY=VALUE", "",
            "key=value, kept in the result file");
  table.add(&TrainJob::inject_inf_at_step, "put an infinity into the gradients of this step")
      .is_hidden = true;
}

void add_output(OptionTable& table) {
  table.begin("output");
  OptionSpec& format =
      table.add(Field{"format", &OutputPlan::format}, "what to print on standard output");
  format.type = OptionType::choice;
  format.is_basic = true;
  allow(format, format_names());
  for (const std::string& name : export_names()) {
    const std::string help = "write the result as " + name + " into a file as well";
    table.add("export-" + name, OptionType::text, "FILE", "", help.c_str());
  }
  table.add(Field{"color", &OutputPlan::color}, "colours");
  table.add(Field{"progress", &OutputPlan::progress}, "progress on standard error");
  table.add(Field{"quiet", &OutputPlan::quiet}, "no progress, no notes").short_name = "q";
  OptionSpec& verbose =
      table.add(Field{"verbose", &OutputPlan::verbose}, "also what the worker says");
  verbose.short_name = "v";
  verbose.twice = "events";
  table.add(Field{"events", &OutputPlan::events}, "also what the worker does, as -vv");
  table.add(Field{"log_file", &OutputPlan::log_file},
            "append everything that is told, and -vv, with times", "FILE");
}

std::vector<OptionSpec> make_table() {
  OptionTable table;
  add_what(table);
  add_training(table);
  add_how(table);
  add_control(table);
  add_output(table);
  return table.take();
}

}  // namespace

const std::vector<OptionSpec>& option_table() {
  static const std::vector<OptionSpec> table = make_table();
  return table;
}

}  // namespace precbench
